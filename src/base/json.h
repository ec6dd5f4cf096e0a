// JSON as every room uses it: objects keep the order in which their fields were written, so answers read as
// the docs do.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace sk {

using Json = nlohmann::ordered_json;

// Parses text from outside. Throws Error(bad_request) that names `what` when it is not JSON, nests deeper
// than 64 levels, or is not UTF-8.
Json parse_json(std::string_view text, std::string_view what = "the request body");

// Compact text; bytes that are not UTF-8 are replaced, never thrown at.
std::string to_text(const Json& value);

}  // namespace sk
