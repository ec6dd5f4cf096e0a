// Work that must not run on a request's thread: waking long polls and event streams, delayed retries, and
// long chores.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <thread>

#include "base/mutex.h"
#include "base/worker_pool.h"

namespace sk {

// Any thread. Jobs must not throw. stop() still runs queued jobs, and drops timers that are not due.
class Background {
 public:
  Background();
  ~Background();

  // Runs a short job on one of a few threads. Callers limit the number of jobs: one per open connection.
  void run(std::function<void()> job);
  // As run(), after a delay.
  void run_after(std::chrono::milliseconds delay, std::function<void()> job);
  // Runs a long job on separate threads. Returns false when too many chores wait. A chore must check
  // stopping() regularly.
  [[nodiscard]] bool run_chore(std::function<void()> job);
  // Runs work on the bytes of one request, which takes as long as reading them. Transfers have separate
  // threads, so chores do not delay them. Callers limit the number of jobs: one per open connection.
  void run_transfer(std::function<void()> job);
  // Registers a callback that runs once, when the server begins to stop. Runs it immediately if that has
  // already happened. forget() with the returned number cancels it.
  uint64_t on_close(std::function<void()> job);
  void forget(uint64_t number);
  // Called when the server begins to stop. Runs the on_close() callbacks, so that waiting requests end.
  void close();
  bool stopping() const { return stopping_; }
  // Runs queued jobs and joins all threads. Idempotent.
  void stop();

  struct Loads {
    PoolLoad short_jobs, chores, transfers;
  };
  Loads loads() const { return {short_jobs_.load(), chores_.load(), transfers_.load()}; }

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  void watch_timers();

  std::atomic<bool> stopping_ = false;
  Mutex mutex_;
  ConditionVariable wake_;
  std::multimap<SteadyTime, std::function<void()>> timers_ SK_GUARDED_BY(mutex_);
  std::map<uint64_t, std::function<void()>> at_close_ SK_GUARDED_BY(mutex_);
  uint64_t next_at_close_ SK_GUARDED_BY(mutex_) = 1;
  bool closed_ SK_GUARDED_BY(mutex_) = false;
  WorkerPool short_jobs_;
  WorkerPool chores_;
  WorkerPool transfers_;
  std::thread timer_thread_;
};

}  // namespace sk
