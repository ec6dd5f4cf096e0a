#include "api/mcp/schema.h"

#include <cmath>

#include "api/mcp/jsonrpc.h"
#include "base/text.h"

namespace sk::api::mcp {

namespace {

// Accepts 5.0 as an integer, because some clients write every number that way.
bool is_integer(const Json& value) {
  constexpr double kExactMax = 9007199254740992.0;
  if (!value.is_number_float()) return value.is_number_integer();
  auto number = value.get<double>();
  return std::fabs(number) <= kExactMax && number == std::floor(number);
}

bool has_type(const Json& value, const std::string& type) {
  if (type == "string") return value.is_string();
  if (type == "integer") return is_integer(value);
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  return true;
}

std::string article(const std::string& type) {
  return (type == "integer" || type == "array" || type == "object" ? "an " : "a ") + type;
}

std::string known_names(const Json& properties) {
  std::string out;
  for (const auto& [name, schema] : properties.items()) out.append(out.empty() ? "" : ", ").append(name);
  return out;
}

std::optional<std::string> check_object(const Json& schema, const Json& value, const std::string& where) {
  const auto& properties = field_in(schema, "properties");
  for (const auto& name : field_in(schema, "required")) {
    if (!value.contains(name.get<std::string>()))
      return "'" + where + name.get<std::string>() + "' is missing";
  }
  for (const auto& [name, field] : value.items()) {
    const auto& known = field_in(properties, name);
    if (!known.is_null()) {
      if (auto problem = find_violation(known, field, where + name)) return problem;
    } else if (field_in(schema, "additionalProperties") == false) {
      return "'" + where + name.substr(0, 100) + "' is unknown; known are: " + known_names(properties);
    }
  }
  return std::nullopt;
}

std::optional<std::string> check_range(const Json& schema, const Json& value, const std::string& where) {
  const auto& least = field_in(schema, "minimum");
  const auto& most = field_in(schema, "maximum");
  // The comparison operators of Json would read an integer from 2^63 on as a negative one.
  bool huge = value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX;
  if ((least.is_number() && !huge && value < least) || (most.is_number() && (huge || value > most)))
    return "'" + where + "' must be" + (least.is_number() ? " at least " + least.dump() : "") +
           (least.is_number() && most.is_number() ? " and" : "") +
           (most.is_number() ? " at most " + most.dump() : "");
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_violation(const Json& schema, const Json& value, const std::string& where) {
  const auto& type = field_in(schema, "type");
  if (type.is_string() && !has_type(value, type.get<std::string>()))
    return (where.empty() ? std::string("the arguments") : "'" + where + "'") + " must be " +
           article(type.get<std::string>());
  if (const auto& choices = field_in(schema, "enum"); choices.is_array()) {
    bool known = false;
    for (const auto& choice : choices) known = known || choice == value;
    if (!known) return "'" + where + "' must be one of " + choices.dump();
  }
  if (value.is_number()) return check_range(schema, value, where);
  if (value.is_string() && field_in(schema, "maxLength").is_number() &&
      value.get_ref<const std::string&>().size() > schema["maxLength"].get<size_t>())
    return "'" + where + "' is longer than " + schema["maxLength"].dump() + " bytes";
  if (value.is_object()) return check_object(schema, value, where.empty() ? "" : where + ".");
  if (!value.is_array()) return std::nullopt;
  if (field_in(schema, "maxItems").is_number() && value.size() > schema["maxItems"].get<size_t>())
    return "'" + where + "' has more than " + schema["maxItems"].dump() + " items";
  const auto& items = field_in(schema, "items");
  for (size_t i = 0; !items.is_null() && i < value.size(); ++i)
    if (auto problem = find_violation(items, value[i], where + "[" + std::to_string(i) + "]")) return problem;
  return std::nullopt;
}

}  // namespace sk::api::mcp
