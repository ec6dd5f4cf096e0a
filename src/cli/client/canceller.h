// Handles Ctrl-C while code runs: cancels the execution on a separate connection, since the first one streams
// the output. Create it before any other thread, so that only its thread receives the signal.
#pragma once

#include <atomic>
#include <csignal>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "cli/client/target.h"

namespace sk::cli {

class Canceller {
 public:
  // shell: each signal cancels the running code; without running code it does nothing. run: before sending(),
  // a signal ends the process. Afterwards the first signal cancels and the second ends the process.
  enum class For { shell, run };
  Canceller(const Target& target, For what);
  // Restores the earlier signal handling.
  ~Canceller();
  Canceller(const Canceller&) = delete;
  Canceller& operator=(const Canceller&) = delete;

  // Call before the execution is sent. With For::run, a signal before running() cancels as soon as the path
  // is known.
  void sending();
  // Sets the execution's path on the server; empty: none runs.
  void running(const std::string& path);
  // Whether a signal arrived since sending().
  bool interrupted() const { return interrupted_; }

 private:
  void wait();
  void cancel(const std::string& path) const;

  const Target target_;
  const For what_;
  sigset_t signals_{}, before_{};
  struct sigaction action_before_{};
  std::atomic<bool> stopping_{false}, interrupted_{false};
  Mutex mutex_;
  bool sent_ SK_GUARDED_BY(mutex_) = false;
  std::string path_ SK_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace sk::cli
