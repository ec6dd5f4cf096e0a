#include "api/common/fields.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace sk::api {

namespace {

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

const Field* find_field(const Fields& fields, std::string_view name) {
  auto found =
      std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

std::string list_names(const Fields& fields) {
  std::string out;
  for (const auto& field : fields) out += (out.empty() ? "" : ", ") + field.name;
  return out.empty() ? "none" : out;
}

[[noreturn]] void throw_unknown(const Fields& fields, std::string_view name, std::string_view label,
                                std::string_view what) {
  std::string message = std::string(what) + " " + in_quotes(label) + " is not known here";
  const Field* nearest = nullptr;
  size_t distance = 3;
  for (const auto& field : fields) {
    auto d = edit_distance(field.name, name);
    if (d < distance) {
      distance = d;
      nearest = &field;
    }
  }
  if (nearest != nullptr) message += "; did you mean " + in_quotes(nearest->name) + "?";
  throw Error(Code::bad_request, message)
      .with("field", std::string(label))
      .hint("Known here: " + list_names(fields) + ".");
}

Error wrong_field(std::string_view label, std::string_view expected) {
  return Error(Code::bad_request, in_quotes(label) + " must be " + std::string(expected))
      .with("field", std::string(label));
}

[[noreturn]] void throw_wrong(std::string_view label, std::string_view expected) {
  throw wrong_field(label, expected);
}

// Says where a client finds the ids with this prefix.
std::optional<Advice> advice_on_ids(std::string_view wanted) {
  if (wanted == prefix::principal) return Advice::list_principals;
  if (wanted == prefix::key) return Advice::list_keys;
  if (wanted == prefix::version) return Advice::list_versions;
  if (wanted == prefix::lock) return Advice::list_locks;
  return std::nullopt;
}

void check_choice(const Field& field, const std::string& value, std::string_view label) {
  if (field.choices.empty() ||
      std::find(field.choices.begin(), field.choices.end(), value) != field.choices.end())
    return;
  std::string expected;
  for (const auto& choice : field.choices)
    expected += (expected.empty() ? "" : " or ") + ("\"" + choice + "\"");
  throw_wrong(label, expected);
}

void check_text_list(const Json& value, std::string_view label) {
  if (!value.is_array()) throw_wrong(label, "a list of strings");
  for (const auto& item : value) {
    if (!item.is_string()) throw_wrong(label, "a list of strings");
  }
}

void check_object_list(const Json& value, std::string_view label) {
  if (!value.is_array()) throw_wrong(label, "a list of objects");
  for (const auto& item : value) {
    if (!item.is_object()) throw_wrong(label, "a list of objects");
  }
}

void check_value(const Field& field, const Json& value, std::string_view label) {
  switch (field.type) {
    case FieldType::text:
      if (!value.is_string()) throw_wrong(label, "a string");
      check_choice(field, value.get_ref<const std::string&>(), label);
      break;
    case FieldType::integer:
      if (!value.is_number_integer()) throw_wrong(label, "a whole number");
      if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX)
        throw_wrong(label, "a whole number below 2^63");
      break;
    case FieldType::boolean:
      if (!value.is_boolean()) throw_wrong(label, "true or false");
      break;
    case FieldType::time:
      if (!value.is_string()) throw_wrong(label, "a time such as \"2026-03-01T12:00:00Z\"");
      parse_time(value.get_ref<const std::string&>(), label);
      break;
    case FieldType::text_list:
      check_text_list(value, label);
      break;
    case FieldType::object:
      if (!value.is_object()) throw_wrong(label, "an object");
      break;
    case FieldType::object_list:
      check_object_list(value, label);
      break;
  }
}

}  // namespace

Body::Body(const Fields& fields, Json value, std::string where, std::vector<std::string>* ignored)
    : fields_(&fields), value_(std::move(value)), where_(std::move(where)) {
  if (!value_.is_object()) throw Error(Code::bad_request, "the request body must be a JSON object");
  for (const auto& [name, item] : value_.items()) {
    const Field* field = find_field(fields, name);
    if (field == nullptr && ignored != nullptr) {
      ignored->push_back(label(name));
      continue;
    }
    if (field == nullptr) throw_unknown(fields, name, label(name), "the field");
    // null means absent: many clients send it for missing values.
    if (!item.is_null()) check_value(*field, item, label(name));
  }
  for (const auto& field : fields) {
    if (field.required && !has(field.name)) {
      throw Error(Code::bad_request, "the field " + in_quotes(label(field.name)) + " is missing")
          .with("field", label(field.name));
    }
  }
}

const Json* Body::find(std::string_view name) const {
  auto found = value_.find(name);
  return found == value_.end() || found->is_null() ? nullptr : &*found;
}

const Field& Body::declared(std::string_view name, FieldType type) const {
  SK_CHECK(fields_ != nullptr, name);
  const Field* field = find_field(*fields_, name);
  SK_CHECK(field != nullptr && field->type == type, name);
  return *field;
}

std::optional<std::string> Body::text(std::string_view name) const {
  declared(name, FieldType::text);
  const Json* value = find(name);
  return value == nullptr ? std::nullopt : std::optional(value->get<std::string>());
}

std::optional<int64_t> Body::integer(std::string_view name) const {
  declared(name, FieldType::integer);
  const Json* value = find(name);
  return value == nullptr ? std::nullopt : std::optional(value->get<int64_t>());
}

std::optional<bool> Body::boolean(std::string_view name) const {
  declared(name, FieldType::boolean);
  const Json* value = find(name);
  return value == nullptr ? std::nullopt : std::optional(value->get<bool>());
}

std::optional<TimeUs> Body::time(std::string_view name) const {
  declared(name, FieldType::time);
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  return parse_time(value->get_ref<const std::string&>(), label(name));
}

std::vector<std::string> Body::texts(std::string_view name) const {
  declared(name, FieldType::text_list);
  const Json* value = find(name);
  return value == nullptr ? std::vector<std::string>{} : value->get<std::vector<std::string>>();
}

const Json& Body::object(std::string_view name) const {
  static const Json kEmpty = Json::object();
  declared(name, FieldType::object);
  const Json* value = find(name);
  return value == nullptr ? kEmpty : *value;
}

const Json& Body::objects(std::string_view name) const {
  static const Json kNone = Json::array();
  declared(name, FieldType::object_list);
  const Json* value = find(name);
  return value == nullptr ? kNone : *value;
}

std::string Body::need_text(std::string_view name) const {
  SK_CHECK(declared(name, FieldType::text).required, name);
  return find(name)->get<std::string>();
}

Query::Query(const Fields& fields, const Pairs& pairs, std::vector<std::string>* ignored)
    : fields_(&fields), pairs_(pairs) {
  std::set<std::string_view> seen;
  for (const auto& [name, value] : pairs_) {
    const Field* field = find_field(fields, name);
    if (field == nullptr && ignored != nullptr) {
      ignored->push_back(name);
      continue;
    }
    if (field == nullptr) throw_unknown(fields, name, name, "the query parameter");
    if (!seen.insert(name).second)
      throw Error(Code::bad_request, "the query parameter " + in_quotes(name) + " is given twice");
    if (field->type == FieldType::integer && !parse_unsigned(value)) throw_wrong(name, "a whole number");
    if (field->type == FieldType::boolean && value != "true" && value != "false" && value != "1" &&
        value != "0") {
      throw_wrong(name, "true or false");
    }
    check_choice(*field, value, name);
  }
  for (const auto& field : fields) {
    if (field.required && !seen.contains(field.name)) {
      throw Error(Code::bad_request, "the query parameter " + in_quotes(field.name) + " is missing");
    }
  }
}

const Field& Query::declared(std::string_view name, FieldType type) const {
  SK_CHECK(fields_ != nullptr, name);
  const Field* field = find_field(*fields_, name);
  SK_CHECK(field != nullptr && field->type == type, name);
  return *field;
}

std::optional<std::string> Query::text(std::string_view name) const {
  declared(name, FieldType::text);
  for (const auto& [key, value] : pairs_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::optional<int64_t> Query::integer(std::string_view name) const {
  declared(name, FieldType::integer);
  for (const auto& [key, value] : pairs_) {
    if (key != name) continue;
    auto number = parse_unsigned(value);
    if (!number || *number > INT64_MAX) throw_wrong(name, "a whole number below 2^63");
    return static_cast<int64_t>(*number);
  }
  return std::nullopt;
}

bool Query::flag(std::string_view name) const {
  declared(name, FieldType::boolean);
  for (const auto& [key, value] : pairs_) {
    if (key == name) return value == "true" || value == "1";
  }
  return false;
}

Query::Pairs parse_form(std::string_view text) {
  auto decode = [](std::string_view part) {
    std::string spaced(part);
    std::replace(spaced.begin(), spaced.end(), '+', ' ');
    auto decoded = percent_decode(spaced);
    if (!decoded) throw Error(Code::bad_request, "the form has a malformed percent escape");
    return *decoded;
  };
  Query::Pairs pairs;
  for (auto part : split(text, '&')) {
    if (part.empty()) continue;
    auto equals = part.find('=');
    auto value = equals == std::string_view::npos ? std::string_view{} : part.substr(equals + 1);
    pairs.emplace_back(decode(part.substr(0, equals)), decode(value));
  }
  return pairs;
}

int64_t within(int64_t value, int64_t least, int64_t most, std::string_view label) {
  if (value < least || value > most)
    throw_wrong(label, "from " + std::to_string(least) + " to " + std::to_string(most));
  return value;
}

uint32_t parse_mode(std::string_view text, std::string_view label) {
  bool octal = (text.size() == 3 || (text.size() == 4 && text[0] == '0')) &&
               text.find_first_not_of("01234567") == std::string_view::npos;
  if (!octal) throw_wrong(label, "permissions in octal, such as \"0644\"");
  uint32_t mode = 0;
  for (char c : text) mode = mode * 8 + static_cast<uint32_t>(c - '0');
  return mode;
}

TimeUs parse_time(std::string_view text, std::string_view label) {
  auto time = parse_iso8601(text);
  if (!time) throw_wrong(label, "a time such as \"2026-03-01T12:00:00Z\"");
  return *time;
}

Id parse_id(std::string_view text, std::string_view prefix, std::string_view label) {
  auto id = Id::from_prefixed(text, prefix);
  if (id && *id) return *id;
  auto error = wrong_field(label, "an id: '" + std::string(prefix) + "' and 32 hexadecimal digits" +
                                      (id ? ", which are not all zero" : ""));
  if (auto advice = advice_on_ids(prefix)) error.advise(*advice);
  throw error;
}

std::string parse_mime(std::string_view text, std::string_view label) {
  auto token = [](std::string_view part) {
    return !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("!#$&-^_.+").find(c) != std::string_view::npos;
    });
  };
  auto type = trim(text.substr(0, text.find(';')));
  auto slash = type.find('/');
  bool good = text.size() <= 255 && slash != std::string_view::npos && token(type.substr(0, slash)) &&
              token(type.substr(slash + 1)) &&
              std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != ','; });
  if (!good) throw_wrong(label, "a MIME type such as \"text/csv\"");
  return std::string(trim(text));
}

}  // namespace sk::api
