// Files that travel inside a text: `data:image/png;base64,…`. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sk::conversations {

struct DataUri {
  std::string mime;  // "text/plain" where none is said; without parameters
  std::string bytes;
};

// nullopt for what is not a data URI, or whose base64 or escapes are broken. Line breaks in base64 and
// missing padding are tolerated.
std::optional<DataUri> parse_data_uri(std::string_view text);

// ".png" for "image/png"; ".bin" for what is not known.
std::string extension_of(std::string_view mime);

}  // namespace sk::conversations
