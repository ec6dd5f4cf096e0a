// Strict validation of client input against the fields that its operation declares. Unknown names, wrong
// types, missing and repeated fields are Error(bad_request), which names the field.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/common/operation.h"
#include "base/clock.h"
#include "base/id.h"

namespace sk::api {

// Values of declared fields, validated in the constructor. Getters CHECK that the field is declared with that
// type, so a handler cannot read undocumented fields. `fields` must outlive the Body.
class Body {
 public:
  Body() = default;
  // `where` precedes names in messages, as "changes[3].". With `ignored`, unknown names are added to it
  // instead of rejected.
  Body(const Fields& fields, Json value, std::string where = "", std::vector<std::string>* ignored = nullptr);

  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::optional<std::string> text(std::string_view name) const;
  std::optional<int64_t> integer(std::string_view name) const;
  std::optional<bool> boolean(std::string_view name) const;
  std::optional<TimeUs> time(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;  // empty when absent
  const Json& object(std::string_view name) const;              // empty when absent
  const Json& objects(std::string_view name) const;             // a list of objects, empty when absent

  // For fields declared as required.
  std::string need_text(std::string_view name) const;

  // "changes[3].mode", for messages about a value.
  std::string label(std::string_view name) const { return where_ + std::string(name); }

 private:
  const Field& declared(std::string_view name, FieldType type) const;
  const Json* find(std::string_view name) const;  // null when absent or JSON null

  const Fields* fields_ = nullptr;
  Json value_ = Json::object();
  std::string where_;
};

// The same for a query string, in which every value is text.
class Query {
 public:
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  Query() = default;
  Query(const Fields& fields, const Pairs& pairs, std::vector<std::string>* ignored = nullptr);

  std::optional<std::string> text(std::string_view name) const;
  std::optional<int64_t> integer(std::string_view name) const;
  bool flag(std::string_view name) const;  // "true" or "1"; absent is false

 private:
  const Field& declared(std::string_view name, FieldType type) const;

  const Fields* fields_ = nullptr;
  Pairs pairs_;
};

// Parses application/x-www-form-urlencoded, as a page's form sends it. Error(bad_request) for a malformed
// escape.
Query::Pairs parse_form(std::string_view text);

// Returns `value`; Error(bad_request) outside of [least, most]. `label` names the field.
int64_t within(int64_t value, int64_t least, int64_t most, std::string_view label);

// Parses "0644" or "644": nine permission bits in octal.
uint32_t parse_mode(std::string_view text, std::string_view label);
TimeUs parse_time(std::string_view text, std::string_view label);
// Parses "v_…" and other ids. Error(bad_request) describes the expected format.
Id parse_id(std::string_view text, std::string_view prefix, std::string_view label);
// Validates a MIME type for use in a header: "type/subtype", with or without parameters.
std::string parse_mime(std::string_view text, std::string_view label);

}  // namespace sk::api
