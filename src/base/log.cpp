#include "base/log.h"

#include <unistd.h>

#include <atomic>

#include "base/clock.h"
#include "base/json.h"

namespace sk::log {

namespace {

std::atomic<Level> least_level{Level::info};
std::atomic<Format> line_format{Format::text};
constexpr std::string_view kNames[] = {"debug", "info", "warn", "error"};

std::string text_value(const Value& value) {
  if (auto number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (auto number = std::get_if<double>(&value)) return std::to_string(*number);
  const auto& text = std::get<std::string>(value);
  bool plain = !text.empty() && text.find_first_of(" \"=\\\t\r\n") == std::string::npos;
  for (char c : text) plain = plain && static_cast<unsigned char>(c) >= 32;
  return plain ? text : to_text(Json(text));
}

}  // namespace

void configure(Level least, Format format) {
  least_level = least;
  line_format = format;
}

bool enabled(Level level) { return level >= least_level.load(std::memory_order_relaxed); }

void write(Level level, std::string_view message, std::initializer_list<LogField> fields) {
  if (!enabled(level)) return;
  auto time = to_iso8601(SystemClock().now_us());
  std::string line;
  if (line_format == Format::json) {
    Json object = {{"time", time}, {"level", kNames[static_cast<int>(level)]}, {"message", message}};
    for (const auto& field : fields)
      std::visit([&](const auto& v) { object[std::string(field.name)] = v; }, field.value);
    line = to_text(object) + "\n";
  } else {
    line = time + " " + std::string(kNames[static_cast<int>(level)]) + " " + std::string(message);
    for (const auto& field : fields) line += " " + std::string(field.name) + "=" + text_value(field.value);
    line += "\n";
  }
  // One write() per line, so lines of different threads do not interleave.
  [[maybe_unused]] auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace sk::log
