// Structured logging to standard error: time, level, message, then key=value pairs, or one JSON object per
// line with --log-format=json. The logger is the only global state. Any thread may log. Never log a secret;
// keys and tokens that a text contains all the same are replaced (base/redaction.h). A line has a bounded
// length, and lines that repeat are folded into one that counts them (base/log_folding.h).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace sk::log {

enum class Level { debug, info, warn, error };
enum class Format { text, json };

using Value = std::variant<std::string, int64_t, double>;
struct LogField {
  template <class T>
  LogField(std::string_view field_name, const T& field_value) : name(field_name) {
    if constexpr (std::is_integral_v<T>)
      value = static_cast<int64_t>(field_value);
    else if constexpr (std::is_floating_point_v<T>)
      value = static_cast<double>(field_value);
    else
      value = std::string(field_value);
  }
  std::string_view name;
  Value value;
};

// Whether lines with the same level and message are folded when there are many within some seconds. Fields
// are not compared. Not for lines of which each one is wanted, such as one per request.
enum class Fold { repeats, nothing };

// Also forgets the lines counted so far.
void configure(Level least, Format format);
bool enabled(Level level);
void write(Level level, std::string_view message, std::initializer_list<LogField> fields = {},
           Fold fold = Fold::repeats);
// Writes how often the lines that were counted repeated, without waiting for more of them. Call at the end.
void write_folded();

// Replaces this secret in every line from now on. For a key that an operator chose, which has no form of its
// own. Call at the start; the newest one counts.
void hide(std::string secret);
// Returns the text without keys, tokens and the hidden secret, for records that are written elsewhere.
std::string loggable(std::string_view text);

inline void debug(std::string_view message, std::initializer_list<LogField> fields = {}) {
  write(Level::debug, message, fields);
}
inline void info(std::string_view message, std::initializer_list<LogField> fields = {}) {
  write(Level::info, message, fields);
}
inline void warn(std::string_view message, std::initializer_list<LogField> fields = {}) {
  write(Level::warn, message, fields);
}
inline void error(std::string_view message, std::initializer_list<LogField> fields = {}) {
  write(Level::error, message, fields);
}

}  // namespace sk::log
