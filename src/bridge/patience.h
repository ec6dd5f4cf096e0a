// How long a job may go on: until its deadline, or until the server stops.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace sk::bridge {

// Shared by all jobs; any thread.
class StopSignal {
 public:
  void stop();
  bool stopped() const;
  // False when it was stopped meanwhile.
  bool sleep_until(std::chrono::steady_clock::time_point time);

 private:
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;  // guarded by mutex_
};

// Of one job; one thread. `signal` outlives it.
class Patience {
 public:
  Patience(StopSignal& signal, std::chrono::milliseconds most)
      : signal_(signal), deadline_(std::chrono::steady_clock::now() + most) {}

  bool is_over() const { return signal_.stopped() || std::chrono::steady_clock::now() >= deadline_; }
  // False when it is over before the pause is.
  bool pause(std::chrono::milliseconds time);

 private:
  StopSignal& signal_;
  const std::chrono::steady_clock::time_point deadline_;
};

}  // namespace sk::bridge
