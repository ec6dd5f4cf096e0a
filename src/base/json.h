// The JSON type of all rooms. Objects keep insertion order, so responses list fields in the documented order.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace sk {

using Json = nlohmann::ordered_json;

// Parses untrusted text. Throws Error(bad_request), which names `what`, for invalid JSON, invalid UTF-8, more
// than 64 levels of nesting, or an object with more than 1,000 fields.
// `claim` is called with the number of values before they take memory; it throws to refuse them.
using JsonClaim = std::function<void(size_t values)>;
Json parse_json(std::string_view text, std::string_view what = "the request body",
                const JsonClaim& claim = {});

// Serializes compactly. Replaces invalid UTF-8 instead of throwing.
std::string to_text(const Json& value);

}  // namespace sk
