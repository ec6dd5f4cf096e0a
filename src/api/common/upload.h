// The headers of a request that brings a file. Its bytes go into a workspace::Intake.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/app.h"
#include "http/message.h"
#include "workspace/intake.h"

namespace sk::api {

// X-Sandkeep-Sha256 (hexadecimal) and Content-MD5 (base64). Error(bad_request) for what cannot be read.
workspace::Checksums announced_checksums(const http::Headers& headers);

// Error(too_large) when Content-Length alone says that the file does not fit, so that nothing of it is read.
void check_announced_size(const App& app, const http::Headers& headers);

// Error(unsupported_media_type) for a body with a Content-Encoding: it would be kept compressed, as bytes
// that nobody wants.
void refuse_encoded(const http::Headers& headers);

// The MIME type that a client's Content-Type gives a file: empty where it only says "bytes", so that it is
// found out instead.
std::string stated_mime(const std::optional<std::string>& content_type);

}  // namespace sk::api
