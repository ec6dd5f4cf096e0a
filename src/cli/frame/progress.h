// The progress line of a transfer: amount, rate and remaining time. Drawn on standard error, only if that is
// a terminal.
#pragma once

#include <atomic>
#include <deque>
#include <optional>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "cli/frame/terminal.h"

namespace sk::cli {

struct ProgressState {
  std::string label;  // "put"
  uint64_t bytes_done = 0;
  std::optional<uint64_t> bytes_total;  // nullopt: unknown, as with standard input
  uint64_t files_done = 0;
  uint64_t files_total = 0;
  std::optional<double> bytes_per_s;  // nullopt: not enough samples yet
};

// Returns one line of at most `width` columns: "put  [#####·····]  42%  1.2 of 2.9 GiB  180 MiB/s  9 s left
// 12/40 files". Omits parts that do not fit, least important first.
std::string format_progress(const ProgressState& state, size_t width, bool utf8);

// Measures the rate over the last few seconds, so that a stall is visible and a fast start has no lasting
// effect.
class RateMeter {
 public:
  void sample(int64_t now_us, uint64_t bytes_done);
  std::optional<double> bytes_per_s() const;

 private:
  struct Sample {
    int64_t time_us;
    uint64_t bytes;
  };
  std::deque<Sample> samples_;  // the oldest is at most kWindowUs old
};

// Draws on its own thread until it is destroyed. Any thread may change the counters.
class Progress {
 public:
  Progress(Terminal& terminal, std::string label, std::optional<uint64_t> bytes_total, uint64_t files_total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void add_bytes(int64_t count) { bytes_done_ += count; }
  void file_done() { ++files_done_; }
  uint64_t bytes_done() const { return static_cast<uint64_t>(std::max<int64_t>(0, bytes_done_.load())); }

 private:
  void draw_until_stopped();

  Terminal& terminal_;
  const std::string label_;
  const std::optional<uint64_t> bytes_total_;
  const uint64_t files_total_;
  std::atomic<int64_t> bytes_done_{0};  // signed: a retry subtracts the bytes that it had sent
  std::atomic<uint64_t> files_done_{0};
  Mutex mutex_;
  ConditionVariable wake_;
  bool stopping_ SK_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sk::cli
