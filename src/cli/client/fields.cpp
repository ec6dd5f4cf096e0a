#include "cli/client/fields.h"

#include "base/error.h"

namespace sk::cli {

namespace {

const Json* find(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  auto at = object.find(name);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

[[noreturn]] void throw_odd(std::string_view name, std::string_view expected) {
  throw Error(Code::internal,
              "the server's answer has no " + std::string(expected) + " '" + std::string(name) + "'")
      .hint(
          "Check that this is a Sandkeep server of the same version as this program ('sandkeep --version').");
}

}  // namespace

std::string text_field(const Json& object, std::string_view name) {
  const auto* field = find(object, name);
  if (field == nullptr || !field->is_string()) throw_odd(name, "text");
  return field->get<std::string>();
}

std::string optional_text(const Json& object, std::string_view name) {
  return find(object, name) == nullptr ? "" : text_field(object, name);
}

uint64_t number_field(const Json& object, std::string_view name) {
  const auto* field = find(object, name);
  if (field == nullptr || !field->is_number_integer() ||
      (!field->is_number_unsigned() && field->get<int64_t>() < 0))
    throw_odd(name, "number");
  return field->get<uint64_t>();
}

bool flag_field(const Json& object, std::string_view name) {
  const auto* field = find(object, name);
  if (field == nullptr) return false;
  if (!field->is_boolean()) throw_odd(name, "true or false");
  return field->get<bool>();
}

const Json& object_field(const Json& object, std::string_view name) {
  const auto* field = find(object, name);
  if (field == nullptr || !field->is_object()) throw_odd(name, "object");
  return *field;
}

const Json& list_field(const Json& object, std::string_view name) {
  const auto* field = find(object, name);
  if (field == nullptr || !field->is_array()) throw_odd(name, "list");
  return *field;
}

}  // namespace sk::cli
