// Handles Ctrl-C, SIGTERM and SIGHUP: deletes what is incomplete or temporary, then ends the process. Create
// it before any other thread, so that all threads inherit the blocked signals and only its thread receives
// them.
#pragma once

#include <csignal>
#include <functional>
#include <set>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "cli/frame/terminal.h"

namespace sk::cli {

class InterruptGuard {
 public:
  // For a transfer: deletes the registered files and says that finished files are kept.
  explicit InterruptGuard(Terminal& terminal);
  // Calls `clean_up` in the guard's thread, then prints `note`. Other threads still run meanwhile.
  InterruptGuard(Terminal& terminal, std::string note, std::function<void()> clean_up);
  // Restores the earlier signal mask. Does not return if a signal has arrived: the process ends.
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // Registers files to delete on an interruption. Any thread.
  void add(const std::string& path);
  void remove(const std::string& path);

 private:
  void wait_for_signal();

  Terminal& terminal_;
  const std::string note_;
  const std::function<void()> clean_up_;  // may be empty
  sigset_t earlier_{};
  Mutex mutex_;
  std::set<std::string> half_written_ SK_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace sk::cli
