#include "api/common/operation.h"

#include "base/text.h"

namespace sk::api {

namespace {

// "{path...}" → "path"; empty for a literal segment.
std::string param_name(std::string_view segment) {
  if (segment.size() < 2 || segment.front() != '{' || segment.back() != '}') return {};
  auto name = segment.substr(1, segment.size() - 2);
  if (name.ends_with("...")) name.remove_suffix(3);
  return std::string(name);
}

}  // namespace

std::string openapi_path(std::string_view pattern) {
  std::string out;
  for (auto segment : split(pattern.substr(1), '/')) {
    auto name = param_name(segment);
    out += '/';
    out += name.empty() ? std::string(segment) : "{" + name + "}";
  }
  return out;
}

std::vector<std::string> pattern_params(std::string_view pattern) {
  std::vector<std::string> names;
  for (auto segment : split(pattern, '/')) {
    if (auto name = param_name(segment); !name.empty()) names.push_back(name);
  }
  return names;
}

Fields condition_fields() {
  return Fields{
             {.name = "if_match",
              .type = FieldType::text_list,
              .about =
                  "Version ids, one of which must be the current one; or [\"*\"]: something must exist."},
             {.name = "if_none_match", .about = "\"*\": nothing may exist there.", .choices = {"*"}},
         } +
         lock_fields();
}

Fields lock_fields() {
  return {
      {.name = "lock_tokens", .type = FieldType::text_list, .about = "Tokens of the locks that you hold."},
      {.name = "fence",
       .type = FieldType::integer,
       .about = "The fencing number of your lock. The write is refused if a later lock covered the path."},
  };
}

Fields operator+(Fields left, const Fields& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Fields page_fields() {
  return {
      {.name = "limit", .type = FieldType::integer, .about = "Maximum number of items."},
      {.name = "cursor", .about = "`next_cursor` of the previous page."},
  };
}

}  // namespace sk::api
