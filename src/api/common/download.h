// Sends the content of a version: ranges, conditional requests, and headers that isolate untrusted content.
// Any thread.
#pragma once

#include <string>

#include "api/app.h"
#include "http/message.h"
#include "workspace/types.h"

namespace sk::api {

// The entity tag of a file is its quoted version id: "\"v_…\"".
std::string etag_of(const Id& version);

struct DownloadOptions {
  bool attachment = false;    // save instead of display
  std::string cache_control;  // value of the Cache-Control header
};

// Answers GET and HEAD: 200, 206 for ranges, 304 and 412 for conditions. Error(range_not_satisfiable). Bytes
// are read while they are sent.
http::Reply download(App& app, const http::Request& request, const workspace::Version& version,
                     const DownloadOptions& options);

// Adds the security headers for content that anybody may have written: no scripts, no forms, no MIME
// sniffing. Only a type that is exactly PDF is exempt from the CSP sandbox.
void add_content_guards(http::Headers& headers, std::string_view mime);

// Returns the stored type as a Content-Type. Adds charset UTF-8 to text without a charset.
std::string content_type_of(std::string_view mime);

}  // namespace sk::api
