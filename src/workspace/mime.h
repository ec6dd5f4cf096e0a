// Detects MIME types by file name, or by libmagic from the first bytes if the name is not enough.
#pragma once

#include <string>
#include <string_view>

namespace sk::workspace {

// Any thread. Never empty; returns "application/octet-stream" if the type is unknown.
std::string guess_mime(std::string_view name, std::string_view head_bytes);

}  // namespace sk::workspace
