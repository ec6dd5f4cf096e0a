// Reads fields of the server's answers. Throws Error(internal) that names a missing or invalid field: the
// server has another version, or is not a Sandkeep server.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace sk::cli {

std::string text_field(const Json& object, std::string_view name);
// Returns "" if the field is missing or null.
std::string optional_text(const Json& object, std::string_view name);
uint64_t number_field(const Json& object, std::string_view name);
bool flag_field(const Json& object, std::string_view name);  // false when missing
const Json& object_field(const Json& object, std::string_view name);
const Json& list_field(const Json& object, std::string_view name);

}  // namespace sk::cli
