// Structured logging to standard error: time, level, message, then key=value pairs, or one JSON object per
// line with --log-format=json. The logger is the only global state. Any thread may log. Never log a secret.
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

void configure(Level least, Format format);
bool enabled(Level level);
void write(Level level, std::string_view message, std::initializer_list<LogField> fields = {});

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
