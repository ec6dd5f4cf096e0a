// Ctrl-C while code runs: cancels the execution on the server, on a connection of its own, since the other
// one is busy with its output. Make it before any other thread, so that all of them leave the signal to its
// thread.
#pragma once

#include <atomic>
#include <csignal>
#include <mutex>
#include <string>
#include <thread>

#include "cli/client/target.h"

namespace sk::cli {

class Canceller {
 public:
  // shell: a signal without running code does nothing, and each one cancels what runs. run: before sending()
  // a signal ends the process, the first one after it cancels, and a second one ends the process at once.
  enum class For { shell, run };
  Canceller(const Target& target, For what);
  // Signals do what they did before again.
  ~Canceller();
  Canceller(const Canceller&) = delete;
  Canceller& operator=(const Canceller&) = delete;

  // The execution is about to be sent. A signal that comes before running() is remembered.
  void sending();
  // The execution's path on the server; empty: none runs.
  void running(const std::string& path);
  // Whether a signal came since sending().
  bool interrupted() const { return interrupted_; }

 private:
  void wait();
  void cancel(const std::string& path) const;

  const Target target_;
  const For what_;
  sigset_t signals_{}, before_{};
  struct sigaction action_before_{};
  std::atomic<bool> stopping_{false}, interrupted_{false};
  std::mutex mutex_;  // guards the two below
  bool sent_ = false;
  std::string path_;
  std::thread thread_;
};

}  // namespace sk::cli
