// Shortens text without splitting a UTF-8 character. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace sk::api {

// Returns the beginning of the text, at most `bytes_max` bytes.
std::string cut_text(std::string_view text, size_t bytes_max);
// Returns the end of the text, at most `bytes_max` bytes.
std::string last_text(std::string_view text, size_t bytes_max);

}  // namespace sk::api
