#include "base/advice.h"

namespace sk {

std::optional<Advice> advice_named(std::string_view name) {
  const auto* found = std::ranges::find(kAdvice, name, &AdviceInfo::name);
  return found == std::end(kAdvice) ? std::nullopt : std::optional(found->advice);
}

std::string_view words_for(Advice advice, std::span<const AdviceWords> table) {
  auto found = std::ranges::find(table, advice, &AdviceWords::advice);
  return found == table.end() ? info(advice).words : found->words;
}

}  // namespace sk
