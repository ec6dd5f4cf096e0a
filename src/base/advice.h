// Advice on an error, as a value. The code that finds a fault knows what would help, but not who
// reads it: a program that sends requests, a model that calls tools, a person at a terminal. It attaches an
// Advice to its Error; the dialect that shows the error has a table of words for it (base/advice.def tells
// how). Immutable tables; any thread.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

namespace sk {

enum class Advice {
#define SK_ADVICE(name, wording, words) name,
#include "base/advice.def"
#undef SK_ADVICE
};

enum class Wording { plain, worded };

struct AdviceInfo {
  Advice advice;
  std::string_view name;
  Wording wording;
  std::string_view words;
};

inline constexpr AdviceInfo kAdvice[] = {
#define SK_ADVICE(name, wording, words) {Advice::name, #name, Wording::wording, words},
#include "base/advice.def"
#undef SK_ADVICE
};

constexpr const AdviceInfo& info(Advice advice) { return kAdvice[static_cast<size_t>(advice)]; }
// Nothing for a name that a newer server gives.
std::optional<Advice> advice_named(std::string_view name);

// One line of a dialect's table. Empty words: nothing that a client of this dialect could do.
struct AdviceWords {
  Advice advice;
  std::string_view words;
};

// Whether a dialect words all that each dialect must word, and nothing twice; for a static_assert beside its
// table.
consteval bool is_complete(std::span<const AdviceWords> table) {
  return std::ranges::all_of(kAdvice, [&](const AdviceInfo& one) {
    auto count = std::ranges::count(table, one.advice, &AdviceWords::advice);
    return count == 1 || (count == 0 && one.wording == Wording::plain);
  });
}

// The words of the table, or the general ones.
std::string_view words_for(Advice advice, std::span<const AdviceWords> table);

}  // namespace sk
