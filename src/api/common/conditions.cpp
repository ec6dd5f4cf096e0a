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

// Accepts weak tags: compression makes the tag of Sandkeep's own reply weak, but it names the same version. A
// tag in a foreign format matches nothing.
void read_if_match(workspace::Conditions& conditions, std::string_view value) {
  auto list = http::EtagList::parse(value);
  if (list.any()) conditions.if_match_any = true;
  for (const auto& tag : list.tags()) {
    if (auto id = Id::from_prefixed(tag.value, workspace::prefix::version))
      conditions.if_match.push_back(*id);
    else
      conditions.if_match_foreign = true;
  }
}

void read_if_none_match(workspace::Conditions& conditions, std::string_view value) {
  if (trim(value) != "*") {
    throw Error(Code::bad_request,
                "on a write, If-None-Match must be '*', which means that nothing exists yet");
  }
  conditions.if_none_match_any = true;
}

TimeUs read_date(std::string_view value) {
  auto date = http::parse_http_date(trim(value));
  if (!date)
    throw Error(Code::bad_request, "If-Unmodified-Since must be a date in the format of Last-Modified")
        .hint("For example: Sun, 06 Nov 1994 08:49:37 GMT. If-Match with a version id is more exact.");
  return *date;
}

// A fence is an integer, also when a client sends it as text.
int64_t parse_fence(std::string_view value) {
  auto number = parse_unsigned(trim(value));
  if (!number || *number > INT64_MAX)
    throw Error(Code::bad_request, "X-Sandkeep-Fence must be a whole number");
  return static_cast<int64_t>(*number);
}

void put_lock_fields_over(workspace::Conditions& conditions, const Body& body) {
  for (auto& token : body.texts("lock_tokens")) conditions.lock_tokens.push_back(std::move(token));
  if (auto fence = body.integer("fence"))
    conditions.fence = within(*fence, 0, INT64_MAX, body.label("fence"));
}

void put_fields_over(workspace::Conditions& conditions, const Body& body) {
  if (body.has("if_match")) {
    conditions.if_match.clear();
    conditions.if_match_any = conditions.if_match_foreign = false;
    conditions.if_unmodified_since_us.reset();
    auto items = body.texts("if_match");
    if (items.empty())
      throw Error(Code::bad_request, "'" + body.label("if_match") + "' must name at least one version");
    for (const auto& item : items) {
      if (item == "*")
        conditions.if_match_any = true;
      else
        conditions.if_match.push_back(parse_id(item, workspace::prefix::version, body.label("if_match")));
    }
  }
  if (body.has("if_none_match")) conditions.if_none_match_any = true;
  put_lock_fields_over(conditions, body);
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
    } else if (lower == "if-unmodified-since") {
      conditions.if_unmodified_since_us = read_date(value);
    } else if (lower == "x-sandkeep-lock") {
      for (auto token : comma_list(value)) conditions.lock_tokens.emplace_back(token);
    } else if (lower == "x-sandkeep-fence") {
      conditions.fence = parse_fence(value);
    }
  }
  // As RFC 9110 has it: the tag is the more exact of the two.
  if (headers.has("If-Match")) conditions.if_unmodified_since_us.reset();
  return conditions;
}

workspace::Conditions lock_tokens_from_headers(const http::Headers& headers) {
  workspace::Conditions conditions;
  for (const auto& [name, value] : headers.all()) {
    auto lower = ascii_lower(name);
    if (lower == "x-sandkeep-lock")
      for (auto token : comma_list(value)) conditions.lock_tokens.emplace_back(token);
    if (lower == "x-sandkeep-fence") conditions.fence = parse_fence(value);
  }
  return conditions;
}

workspace::Conditions lock_tokens_from_body(const http::Headers& headers, const Body& body) {
  auto conditions = lock_tokens_from_headers(headers);
  put_lock_fields_over(conditions, body);
  return conditions;
}

void refuse_conditions(const Operation& operation, const http::Headers& headers) {
  if (operation.conditional_write || operation.method == "GET") return;
  for (const char* name : {"If-Match", "If-None-Match", "If-Unmodified-Since", "X-Sandkeep-Fence"}) {
    if (!headers.has(name) || (operation.opens_locks && name == std::string_view("X-Sandkeep-Fence")))
      continue;
    throw Error(Code::bad_request, std::string(name) + " does not apply to this call; nothing was changed")
        .hint(
            "Use it for calls that write one file or folder. In a batch, each change has its own if_match "
            "and if_none_match.")
        .with("field", name);
  }
}

workspace::Conditions conditions_from_body(const http::Headers& headers, const Body& body) {
  auto conditions = conditions_from_headers(headers);
  put_fields_over(conditions, body);
  return conditions;
}

workspace::Conditions conditions_from_fields(workspace::Conditions conditions, const Body& body) {
  put_fields_over(conditions, body);
  return conditions;
}

}  // namespace sk::api
