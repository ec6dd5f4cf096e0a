// A version's bytes as a reply: ranges, conditions, and the headers that keep untrusted content in its place.
#pragma once

#include <string>

#include "api/app.h"
#include "http/message.h"
#include "workspace/types.h"

namespace sk::api {

// "\"v_…\"": a file's entity tag is its version.
std::string etag_of(const Id& version);

struct DownloadOptions {
  bool attachment = false;    // to be saved, not shown
  std::string cache_control;  // how long the answer stays true
};

// Answers GET and HEAD: 200, 206 for ranges, 304 and 412 for conditions, Error(range_not_satisfiable). Bytes
// are read when they are sent.
http::Reply download(App& app, const http::Request& request, const workspace::Version& version,
                     const DownloadOptions& options);

// What browsers are told about bytes that anybody may have written: no scripts, no forms, no guessing of
// types. Only what is exactly a PDF is spared the sandbox.
void add_content_guards(http::Headers& headers, std::string_view mime);

// The stored type as a Content-Type; text without a charset is UTF-8.
std::string content_type_of(std::string_view mime);

}  // namespace sk::api
