#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/log_folding.h"
#include "base/mutex.h"
#include "base/redaction.h"
#include "base/text.h"

namespace sk::log {

namespace {

std::atomic<Level> least_level{Level::info};
std::atomic<Format> line_format{Format::text};
constexpr std::string_view kNames[] = {"debug", "info", "warn", "error"};
// A path may have as many bytes as all headers; a line needs no more than this of it.
constexpr size_t kValueBytesMax = 2048;

struct LogState {
  Mutex mutex;
  LineFolding folding SK_GUARDED_BY(mutex);
  std::vector<std::unique_ptr<const std::string>> secrets SK_GUARDED_BY(mutex);  // the last one is hidden
  std::atomic<const std::string*> hidden{nullptr};                               // read without the mutex
};

// Never destroyed, because threads may log until the process has ended.
LogState& log_state() {
  static LogState* const state = std::make_unique<LogState>().release();
  return *state;
}

std::string shown(std::string_view text) {
  auto out = loggable(text);
  if (out.size() > kValueBytesMax) out = cut_text(out, kValueBytesMax) + "…";
  return out;
}

std::string text_value(const Value& value) {
  if (auto number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (auto number = std::get_if<double>(&value)) return std::to_string(*number);
  auto text = shown(std::get<std::string>(value));
  bool plain = !text.empty() && text.find_first_of(" \"=\\\t\r\n") == std::string::npos;
  for (char c : text) plain = plain && static_cast<unsigned char>(c) >= 32;
  return plain ? text : to_text(Json(text));
}

Json json_value(const Value& value) {
  if (auto text = std::get_if<std::string>(&value)) return shown(*text);
  if (auto number = std::get_if<int64_t>(&value)) return *number;
  return std::get<double>(value);
}

void put_line(Level level, std::string_view message, std::initializer_list<LogField> fields) {
  auto time = to_iso8601(SystemClock().now_us());
  std::string line;
  if (line_format == Format::json) {
    Json object = {{"time", time}, {"level", kNames[static_cast<int>(level)]}, {"message", shown(message)}};
    for (const auto& field : fields) object[std::string(field.name)] = json_value(field.value);
    line = to_text(object) + "\n";
  } else {
    line = time + " " + std::string(kNames[static_cast<int>(level)]) + " " + shown(message);
    for (const auto& field : fields) line += " " + std::string(field.name) + "=" + text_value(field.value);
    line += "\n";
  }
  // One write() per line, so lines of different threads do not interleave.
  [[maybe_unused]] auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

void put_left_out(const std::vector<LineFolding::LeftOut>& lines) {
  for (const auto& line : lines)
    put_line(line.level, line.message + " … repeated " + std::to_string(line.count) + " times", {});
}

}  // namespace

void configure(Level least, Format format) {
  least_level = least;
  line_format = format;
  auto& state = log_state();
  MutexLock lock(state.mutex);
  state.folding = LineFolding();
}

bool enabled(Level level) { return level >= least_level.load(std::memory_order_relaxed); }

void write(Level level, std::string_view message, std::initializer_list<LogField> fields, Fold fold) {
  if (!enabled(level)) return;
  auto& state = log_state();
  auto now = std::chrono::steady_clock::now();
  std::vector<LineFolding::LeftOut> ended;
  bool admitted = true;
  {
    MutexLock lock(state.mutex);
    ended = state.folding.take_ended(now);
    // Lines are not folded at the level `debug`, which is for finding errors.
    if (fold == Fold::repeats && level != Level::debug) admitted = state.folding.admits(level, message, now);
  }
  put_left_out(ended);
  if (admitted) put_line(level, message, fields);
}

void write_folded() {
  auto& state = log_state();
  std::vector<LineFolding::LeftOut> lines;
  {
    MutexLock lock(state.mutex);
    lines = state.folding.take_all();
  }
  put_left_out(lines);
}

void hide(std::string secret) {
  auto& state = log_state();
  MutexLock lock(state.mutex);
  state.secrets.push_back(std::make_unique<const std::string>(std::move(secret)));
  state.hidden = state.secrets.back().get();
}

std::string loggable(std::string_view text) {
  const auto* hidden = log_state().hidden.load();
  std::string_view others[] = {hidden ? std::string_view(*hidden) : std::string_view()};
  return without_secrets(text, others);
}

}  // namespace sk::log
