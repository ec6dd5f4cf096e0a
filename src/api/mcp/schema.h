// Validates a tool's arguments against its input schema. Supports the part of JSON Schema that Sandkeep's
// schemas use. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"

namespace sk::api::mcp {

// Describes the first violation and names the field; nullopt when the value is valid. Supports type,
// properties, required, additionalProperties: false, enum, items, minimum, maximum, maxLength and maxItems.
// Ignores other keywords.
std::optional<std::string> find_violation(const Json& schema, const Json& value,
                                          const std::string& where = "");

}  // namespace sk::api::mcp
