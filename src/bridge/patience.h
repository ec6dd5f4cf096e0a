// The time limit of a job: its deadline, or the stop of the server.
#pragma once

#include <chrono>

#include "base/mutex.h"

namespace sk::bridge {

// Shared by all jobs; any thread.
class StopSignal {
 public:
  void stop();
  bool stopped() const;
  // Returns false if stop() was called before `time`.
  bool sleep_until(std::chrono::steady_clock::time_point time);

 private:
  mutable Mutex mutex_;
  ConditionVariable wake_;
  bool stopped_ SK_GUARDED_BY(mutex_) = false;
};

// The time limit of one job; one thread. `signal` outlives it.
class Patience {
 public:
  Patience(StopSignal& signal, std::chrono::milliseconds most)
      : signal_(signal), deadline_(std::chrono::steady_clock::now() + most) {}

  bool is_over() const { return signal_.stopped() || std::chrono::steady_clock::now() >= deadline_; }
  // Sleeps for `time`. Returns false if the job's time ends first; does not sleep past the deadline.
  bool pause(std::chrono::milliseconds time);

 private:
  StopSignal& signal_;
  const std::chrono::steady_clock::time_point deadline_;
};

}  // namespace sk::bridge
