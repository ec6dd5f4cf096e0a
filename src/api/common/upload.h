// The headers of a request that brings a file. Its bytes go into a workspace::Intake.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/app.h"
#include "http/message.h"
#include "workspace/intake.h"

namespace sk::api {

// Reads X-Sandkeep-Sha256 (hexadecimal) and Content-MD5 (base64). Error(bad_request) for a malformed value.
workspace::Checksums announced_checksums(const http::Headers& headers);

// Error(too_large) when Content-Length already exceeds the limit, so the body need not be read.
void check_announced_size(const App& app, const http::Headers& headers);

// Error(unsupported_media_type) for a body with a Content-Encoding: the file would be stored compressed.
void refuse_encoded(const http::Headers& headers);

// Returns the MIME type that a client's Content-Type gives a file. Empty for a generic type, so that the type
// is detected from the content.
std::string stated_mime(const std::optional<std::string>& content_type);

}  // namespace sk::api
