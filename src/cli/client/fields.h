// Reads fields of the server's answers. A missing or odd field is Error(internal), which names it: the server
// is of another version, or is no Sandkeep at all.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace sk::cli {

std::string text_field(const Json& object, std::string_view name);
// "" when the field is missing or null.
std::string optional_text(const Json& object, std::string_view name);
uint64_t number_field(const Json& object, std::string_view name);
bool flag_field(const Json& object, std::string_view name);  // false when missing
const Json& object_field(const Json& object, std::string_view name);
const Json& list_field(const Json& object, std::string_view name);

}  // namespace sk::cli
