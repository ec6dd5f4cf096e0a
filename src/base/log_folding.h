// Counts log lines that repeat. A fault, or a stranger, that causes one line after another would otherwise
// fill the log. Internal to base/log.cpp. One thread at a time; the time is a parameter.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"

namespace sk::log {

class LineFolding {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Of lines with the same level and message, this many are written within the window; the rest is counted.
  static constexpr uint64_t kWrittenMax = 10;
  static constexpr std::chrono::seconds kWindow{10};
  // Different lines that are counted at a time. Lines beyond are written.
  static constexpr size_t kRowsMax = 256;
  // Only the beginning of a message distinguishes it, so that a row is small.
  static constexpr size_t kMessageBytesMax = 200;

  // Lines that were not written.
  struct LeftOut {
    Level level;
    std::string message;
    uint64_t count;
  };

  // Counts a line. Returns whether to write it.
  bool admits(Level level, std::string_view message, Time now);
  // Ends the windows that are over, and returns what they left out.
  std::vector<LeftOut> take_ended(Time now);
  // Ends all windows.
  std::vector<LeftOut> take_all();

 private:
  struct Row {
    Time began;
    uint64_t seen = 0;
  };
  using Lines = std::map<std::pair<Level, std::string>, Row>;
  // Returns what the row left out, if anything.
  static void end_row(const Lines::value_type& row, std::vector<LeftOut>& out);

  Lines rows_;
  Time first_end_ = Time::max();  // not after the end of any window
};

}  // namespace sk::log
