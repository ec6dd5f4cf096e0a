// Strict reading of what a client wrote, against the fields that its operation declares: unknown names, wrong
// types, missing and repeated fields are Error(bad_request) that names the field.
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

// Values of declared fields, checked in the constructor. Getters CHECK that the field is declared with that
// type, so that a handler cannot read what the document does not tell. Borrowed `fields` outlive it.
class Body {
 public:
  Body() = default;
  // `where` stands before names in messages, as "changes[3].". With `ignored`, unknown names are listed there
  // instead of refused.
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

// The same for a query string, where every value is text.
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

// application/x-www-form-urlencoded, as a page's form sends it. Error(bad_request) on a malformed escape.
Query::Pairs parse_form(std::string_view text);

// Error(bad_request) when `value` lies outside; `label` names the field.
int64_t within(int64_t value, int64_t least, int64_t most, std::string_view label);

// "0644" or "644": nine permission bits in octal.
uint32_t parse_mode(std::string_view text, std::string_view label);
TimeUs parse_time(std::string_view text, std::string_view label);
// "v_…" and so on. Error(bad_request) that says what such an id looks like.
Id parse_id(std::string_view text, std::string_view prefix, std::string_view label);
// A MIME type that may stand in a header: "type/subtype", with or without parameters.
std::string parse_mime(std::string_view text, std::string_view label);

}  // namespace sk::api
