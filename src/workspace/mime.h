// Detects MIME types by file name, or from the first bytes if the name is not enough.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sk::workspace {

// Returns the type of content by its first bytes; "" if it is unknown. Any thread.
using TypeOfBytes = std::function<std::string(std::string_view bytes)>;

// Any thread. Never empty; returns "application/octet-stream" if the type is unknown. `type_of` is asked for
// bytes that are not plain text.
std::string guess_mime(std::string_view name, std::string_view head_bytes, const TypeOfBytes& type_of);

}  // namespace sk::workspace
