// Handles Ctrl-C during a transfer: deletes incomplete files, then ends the process. Create it before any
// other thread, so that all threads inherit the blocked signals and only its thread receives them.
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
  // Unblocks the signals.
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // Registers files to delete on an interruption. Any thread.
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
