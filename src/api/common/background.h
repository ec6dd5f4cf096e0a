// Work that no request's thread may wait for: waking long polls and event streams, retrying at a time, and
// long chores.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "base/worker_pool.h"

namespace sk::api {

// Any thread. Jobs must not throw. What is queued when stop() is called still runs; timers that are not due
// are dropped.
class Background {
 public:
  Background();
  ~Background();

  // Soon, on one of a few threads; for short jobs. Callers bound their number: one per open connection.
  void run(std::function<void()> job);
  // The same, after a time.
  void run_after(std::chrono::milliseconds delay, std::function<void()> job);
  // On threads of their own; false when too many chores wait. A chore looks at stopping() now and then.
  [[nodiscard]] bool run_chore(std::function<void()> job);
  // For work on the bytes of one request, which takes as long as reading them; on threads of their own, so
  // that chores do not hold it up. Callers bound their number: one per open connection.
  void run_transfer(std::function<void()> job);
  // Calls `job`, once, when the server begins to stop, or at once when it has begun; until forget().
  uint64_t on_close(std::function<void()> job);
  void forget(uint64_t number);
  // The server begins to stop: what waits for news is told so.
  void close();
  bool stopping() const { return stopping_; }
  void stop();

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  void watch_timers();

  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::multimap<SteadyTime, std::function<void()>> timers_;  // guarded by mutex_
  std::map<uint64_t, std::function<void()>> at_close_;       // guarded by mutex_
  uint64_t next_at_close_ = 1;                               // guarded by mutex_
  bool closed_ = false;                                      // guarded by mutex_
  WorkerPool short_jobs_;
  WorkerPool chores_;
  WorkerPool transfers_;
  std::thread timer_thread_;
};

}  // namespace sk::api
