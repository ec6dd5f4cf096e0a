// What kind of file it is: by its name where the name says enough, else by libmagic's look at its first
// bytes.
#pragma once

#include <string>
#include <string_view>

namespace sk::workspace {

// Any thread. Always a type; "application/octet-stream" when nothing is known.
std::string guess_mime(std::string_view name, std::string_view head_bytes);

}  // namespace sk::workspace
