#include "base/error.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/log.h"

namespace sk {

namespace {
constexpr auto kCodes = std::to_array<CodeInfo>({
#define SK_ERROR(name, status, advice) {Code::name, #name, status, Advice::advice},
#include "base/error_codes.def"
#undef SK_ERROR
});

// {name} becomes the fact of that name; what names no fact stays as it is, such as the parameter of a route.
std::string with_facts(std::string_view words, const std::vector<Error::Fact>& facts) {
  std::string out;
  for (size_t at = 0; at < words.size();) {
    auto open = std::min(words.find('{', at), words.size());
    out += words.substr(at, open - at);
    auto close = words.find('}', open);
    if (close == std::string_view::npos) return out.append(words.substr(open));
    auto fact = std::ranges::find(facts, words.substr(open + 1, close - open - 1), &Error::Fact::first);
    if (fact == facts.end())
      out += words.substr(open, close + 1 - open);
    else if (const auto* text = std::get_if<std::string>(&fact->second))
      out += *text;
    else
      out += std::to_string(std::get<int64_t>(fact->second));
    at = close + 1;
  }
  return out;
}

// The wait before a retry where the cause does not tell it: most queues have moved on by then, and a server
// that restarts is back.
constexpr int64_t kUnknownWaitS = 5;

// Errors with such advice stay until an operator has acted.
constexpr bool needs_operator(Advice advice) {
  return advice == Advice::ask_operator || advice == Advice::complete_sandbox || advice == Advice::read_log;
}
}  // namespace

const CodeInfo& info(Code code) { return kCodes[static_cast<size_t>(code)]; }
std::span<const CodeInfo> all_codes() { return kCodes; }

std::optional<Advice> Error::advice() const {
  if (!own_words_.empty()) return std::nullopt;
  return advice_.value_or(info(code_).advice);
}

std::string Error::hint(std::span<const AdviceWords> table) const {
  auto advised = advice();
  return advised ? with_facts(words_for(*advised, table), facts_) : own_words_;
}

Error& Error::retry_in(int64_t seconds) & {
  facts_.emplace_back(kRetryAfter, std::max<int64_t>(seconds, 1));
  return *this;
}

std::optional<int64_t> Error::retry_after_s() const {
  for (const auto& [name, value] : facts_)
    if (const auto* seconds = std::get_if<int64_t>(&value); seconds && name == kRetryAfter) return *seconds;
  if (code_ == Code::too_many_requests) return kUnknownWaitS;
  auto advised = advice();
  if (code_ != Code::unavailable || (advised && needs_operator(*advised))) return std::nullopt;
  return kUnknownWaitS;
}

Error Error::in_terms_of(const PathNaming& naming) const {
  Error out = *this;
  out.message_ = message_.text(naming);
  for (const auto& [index, paths] : path_facts_) out.facts_[index].second = paths.text(naming);
  out.path_facts_.clear();
  return out;
}

Error system_error(std::string_view what, int err) {
  auto text = std::string(what) + ": " + std::system_category().message(err);
  if (err == ENOSPC || err == EDQUOT) return Error(Code::disk_full, text);
  return Error(Code::internal, text);
}

void die(std::string_view message) {
  std::string line = "sandkeep: fatal: " + log::loggable(message) + "\n";
  [[maybe_unused]] auto written = ::write(STDERR_FILENO, line.data(), line.size());
  std::abort();
}

}  // namespace sk
