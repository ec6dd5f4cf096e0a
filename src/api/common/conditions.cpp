#include "api/common/conditions.h"

#include "base/text.h"
#include "http/conditional.h"

namespace sk::api {

namespace {

std::vector<std::string_view> comma_list(std::string_view value) {
  std::vector<std::string_view> items;
  for (auto item : split(value, ',')) {
    if (auto text = trim(item); !text.empty()) items.push_back(text);
  }
  return items;
}

void add_if_match(workspace::Conditions& conditions, std::string_view item, std::string_view label) {
  if (item == "*") {
    conditions.if_match_any = true;
  } else {
    conditions.if_match.push_back(parse_id(item, workspace::prefix::version, label));
  }
}

// A weak tag is what our own answer had before it was compressed: it names the same version.
void read_if_match(workspace::Conditions& conditions, std::string_view value) {
  auto list = http::EtagList::parse(value);
  if (list.any()) conditions.if_match_any = true;
  for (const auto& tag : list.tags()) add_if_match(conditions, tag.value, "If-Match");
}

void read_if_none_match(workspace::Conditions& conditions, std::string_view value) {
  if (trim(value) != "*") {
    throw Error(Code::bad_request, "on a write, If-None-Match can only be '*': nothing may be there yet");
  }
  conditions.if_none_match_any = true;
}

// A fence is a whole number, also where a client writes it as text.
int64_t parse_fence(std::string_view value) {
  auto number = parse_unsigned(trim(value));
  if (!number || *number > INT64_MAX)
    throw Error(Code::bad_request, "X-Sandkeep-Fence must be a whole number");
  return static_cast<int64_t>(*number);
}

void put_fields_over(workspace::Conditions& conditions, const Body& body) {
  if (body.has("if_match")) {
    conditions.if_match.clear();
    conditions.if_match_any = false;
    auto items = body.texts("if_match");
    if (items.empty())
      throw Error(Code::bad_request, "'" + body.label("if_match") + "' must name at least one version");
    for (const auto& item : items) add_if_match(conditions, item, body.label("if_match"));
  }
  if (body.has("if_none_match")) conditions.if_none_match_any = true;
  for (auto& token : body.texts("lock_tokens")) conditions.lock_tokens.push_back(std::move(token));
  if (auto fence = body.integer("fence"))
    conditions.fence = within(*fence, 0, INT64_MAX, body.label("fence"));
}

}  // namespace

workspace::Conditions conditions_from_headers(const http::Headers& headers) {
  workspace::Conditions conditions;
  for (const auto& [name, value] : headers.all()) {
    auto lower = ascii_lower(name);
    if (lower == "if-match") {
      read_if_match(conditions, value);
    } else if (lower == "if-none-match") {
      read_if_none_match(conditions, value);
    } else if (lower == "x-sandkeep-lock") {
      for (auto token : comma_list(value)) conditions.lock_tokens.emplace_back(token);
    } else if (lower == "x-sandkeep-fence") {
      conditions.fence = parse_fence(value);
    }
  }
  return conditions;
}

workspace::Conditions lock_tokens_from_headers(const http::Headers& headers) {
  auto all = conditions_from_headers(headers);
  workspace::Conditions conditions;
  conditions.lock_tokens = std::move(all.lock_tokens);
  conditions.fence = all.fence;
  return conditions;
}

workspace::Conditions conditions_from_body(const http::Headers& headers, const Body& body) {
  auto conditions = conditions_from_headers(headers);
  put_fields_over(conditions, body);
  return conditions;
}

workspace::Conditions conditions_from_fields(const Body& body) {
  workspace::Conditions conditions;
  put_fields_over(conditions, body);
  return conditions;
}

}  // namespace sk::api
