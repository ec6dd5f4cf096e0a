// Checks a tool's arguments against its input schema: the part of JSON Schema that our schemas use.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"

namespace sk::api::mcp {

// What is wrong, in words that name the field; nullopt when nothing is. Knows type, properties, required,
// additionalProperties: false, enum, items, minimum, maximum, maxLength and maxItems; other keywords say
// nothing.
std::optional<std::string> find_violation(const Json& schema, const Json& value,
                                          const std::string& where = "");

}  // namespace sk::api::mcp
