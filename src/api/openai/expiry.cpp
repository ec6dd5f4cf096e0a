#include "api/openai/expiry.h"

#include "api/common/fields.h"

namespace sk::api::openai {

std::optional<int64_t> read_expiry(const Json& value, const ExpiryRule& rule,
                                   std::vector<std::string>& ignored) {
  if (value.empty()) return std::nullopt;
  const Fields fields = {{.name = "anchor", .about = "", .required = true, .choices = {rule.anchor}},
                         {.name = rule.unit, .type = FieldType::integer, .about = "", .required = true}};
  Body body(fields, value, "expires_after.", &ignored);
  return within(*body.integer(rule.unit), rule.least, rule.most, body.label(rule.unit));
}

}  // namespace sk::api::openai
