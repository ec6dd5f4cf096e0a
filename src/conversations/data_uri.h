// Parses data URIs, files embedded in text: `data:image/png;base64,…`. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sk::conversations {

struct DataUri {
  std::string mime;  // "text/plain" if unspecified; without parameters
  std::string bytes;
};

// Returns nullopt if the text is not a data URI or its base64 or escapes are invalid. Accepts line breaks and
// missing padding in base64.
std::optional<DataUri> parse_data_uri(std::string_view text);

// Returns ".png" for "image/png"; ".bin" for an unknown type.
std::string extension_of(std::string_view mime);

}  // namespace sk::conversations
