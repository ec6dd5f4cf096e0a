// The single error type. Code throws an Error where it detects the fault; one place per dialect turns it into
// a response. Nothing in between catches it. Expected absence is an optional, not an Error. A bug is a failed
// SK_CHECK, never an Error. It carries what failed (code, message, facts) and what would help
// (base/advice.h); the dialect that shows it words the advice.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/advice.h"
#include "base/sentence.h"

namespace sk {

enum class Code {
#define SK_ERROR(name, status, advice) name,
#include "base/error_codes.def"
#undef SK_ERROR
};

struct CodeInfo {
  Code code;
  std::string_view name;
  int http_status;
  Advice advice;  // in general, where an error has none of its own
};

const CodeInfo& info(Code code);
std::span<const CodeInfo> all_codes();

class Error : public std::exception {
 public:
  static constexpr const char* kRetryAfter = "retry_after_seconds";
  // Machine-readable detail returned next to the code and message, such as the current version id of a 412.
  using Fact = std::pair<std::string, std::variant<std::string, int64_t>>;

  Error(Code code, Sentence message) : code_(code), message_(std::move(message)) {}

  Error& with(std::string name, std::string value) & {
    facts_.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  Error& with(std::string name, int64_t value) & {
    facts_.emplace_back(std::move(name), value);
    return *this;
  }
  Error&& with(std::string name, std::string value) && {
    facts_.emplace_back(std::move(name), std::move(value));
    return std::move(*this);
  }
  Error&& with(std::string name, int64_t value) && {
    facts_.emplace_back(std::move(name), value);
    return std::move(*this);
  }
  // A fact of one or several paths of entries, such as the path of a lock.
  Error& with_paths(std::string name, const Sentence& paths) & {
    path_facts_.emplace_back(facts_.size(), paths);
    return with(std::move(name), paths.text());
  }
  Error&& with_paths(std::string name, const Sentence& paths) && {
    return std::move(with_paths(std::move(name), paths));
  }
  // Replaces the general advice of the code with one for this case.
  Error& advise(Advice advice) & {
    advice_ = advice;
    return *this;
  }
  Error&& advise(Advice advice) && {
    advice_ = advice;
    return std::move(*this);
  }
  // States when the same request may succeed, as the fact `retry_after_seconds`. HTTP also sends Retry-After.
  Error& retry_in(int64_t seconds) &;
  Error&& retry_in(int64_t seconds) && { return std::move(retry_in(seconds)); }
  // Advice in words, for a dialect about its own requests: nobody else words it. The domain advises instead;
  // tests/tidy checks it.
  Error&& hint(std::string words) && {
    own_words_ = std::move(words);
    return std::move(*this);
  }

  // The same error, whose message begins with the thing that it is about.
  Error about(std::string_view subject) const {
    Error out = *this;
    out.message_ = Sentence(subject) + ": " + message_;
    return out;
  }

  // The same error in the terms of a client that knows entries by other paths.
  Error in_terms_of(const PathNaming& naming) const;

  Code code() const { return code_; }
  const std::string& message() const { return message_.text(); }
  const Sentence& sentence() const { return message_; }
  // Nothing when the error brought its own words.
  std::optional<Advice> advice() const;
  // Its own words, else those of the dialect's table for its advice, with the error's facts in their places.
  std::string hint(std::span<const AdviceWords> table = {}) const;
  const std::vector<Fact>& facts() const { return facts_; }
  // Returns after how many seconds the same request may succeed: the time that the error states, or 5 for
  // other errors that pass without anybody's help. Nothing where waiting does not help.
  std::optional<int64_t> retry_after_s() const;
  int http_status() const { return info(code_).http_status; }
  const char* what() const noexcept override { return message_.text().c_str(); }

 private:
  Code code_;
  Sentence message_;
  std::optional<Advice> advice_;
  std::string own_words_;
  std::vector<Fact> facts_;
  std::vector<std::pair<size_t, Sentence>> path_facts_;  // by index in facts_
};

// Creates an Error from errno, for system calls that fail because of the environment. The code is disk_full
// for ENOSPC and EDQUOT, otherwise internal.
[[nodiscard]] Error system_error(std::string_view what, int err);

// Prints the message and aborts the process without running destructors. Used for a failed fsync and for
// broken invariants. Acknowledged data is durable at this point; continuing could acknowledge data that is
// not.
[[noreturn]] void die(std::string_view message);

// Dies unless an invariant of our own code holds. Never use it to validate input.
#define SK_CHECK(condition, ...)                                                                          \
  do {                                                                                                    \
    if (!(condition)) [[unlikely]]                                                                        \
      ::sk::die(std::string(__FILE__ ":") + std::to_string(__LINE__) + ": CHECK(" #condition ") failed" + \
                ::sk::check_context(__VA_ARGS__));                                                        \
  } while (false)

inline std::string check_context() { return {}; }
inline std::string check_context(std::string_view text) { return ": " + std::string(text); }

}  // namespace sk
