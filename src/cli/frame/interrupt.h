// Ctrl-C during a transfer: removes what is half-written, then ends the process. Made before any other
// thread, so that all of them leave the signals to this one.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "cli/frame/terminal.h"

namespace sk::cli {

class InterruptGuard {
 public:
  explicit InterruptGuard(Terminal& terminal);
  // Signals do what they did before again.
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // Files that must not survive an interruption. Any thread.
  void add(const std::string& path);
  void remove(const std::string& path);

 private:
  void wait_for_signal();

  Terminal& terminal_;
  std::mutex mutex_;
  std::set<std::string> half_written_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace sk::cli
