// Time source. Code that needs the current time takes a Clock parameter, so tests can control time.
// Implementations may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sk {

// Microseconds since 1970-01-01 UTC.
using TimeUs = int64_t;

constexpr int64_t kMillisecondUs = 1'000;
constexpr int64_t kSecondUs = 1'000'000;

// Returns the seconds until a time, rounded up. 0 if it has passed.
constexpr int64_t seconds_until(TimeUs at_us, TimeUs now_us) {
  return at_us <= now_us ? 0 : (at_us - now_us + kSecondUs - 1) / kSecondUs;
}

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimeUs now_us() const = 0;
};

class SystemClock final : public Clock {
 public:
  TimeUs now_us() const override;
};

// Clock for tests. Any thread may read it while one thread advances it.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(TimeUs start_us) : now_us_(start_us) {}
  TimeUs now_us() const override { return now_us_.load(); }
  void advance_us(int64_t by) { now_us_ += by; }

 private:
  std::atomic<TimeUs> now_us_;
};

// Formats a time as "2026-03-01T12:34:56.789012Z", and parses such text. The fraction and the offset are
// optional when parsing. Returns nullopt for any other text.
std::string to_iso8601(TimeUs time_us);
std::optional<TimeUs> parse_iso8601(std::string_view text);

}  // namespace sk
