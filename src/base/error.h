// The single error type. Code throws an Error where it detects the fault; one place per dialect turns it into
// a response. Nothing in between catches it. Expected absence is an optional, not an Error. A bug is a failed
// SK_CHECK, never an Error.
#pragma once

#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sk {

enum class Code {
#define SK_ERROR(name, status, hint) name,
#include "base/error_codes.def"
#undef SK_ERROR
};

struct CodeInfo {
  Code code;
  std::string_view name;
  int http_status;
  std::string_view hint;
};

const CodeInfo& info(Code code);
std::span<const CodeInfo> all_codes();

class Error : public std::exception {
 public:
  // Machine-readable detail returned next to the code and message, such as the current version id of a 412.
  using Fact = std::pair<std::string, std::variant<std::string, int64_t>>;

  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}

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
  // Replaces the default hint of the code with one for this case.
  Error&& hint(std::string text) && {
    hint_ = std::move(text);
    return std::move(*this);
  }

  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  std::string_view hint() const { return hint_.empty() ? info(code_).hint : std::string_view(hint_); }
  const std::vector<Fact>& facts() const { return facts_; }
  int http_status() const { return info(code_).http_status; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  Code code_;
  std::string message_;
  std::string hint_;
  std::vector<Fact> facts_;
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
