// Fixed-size thread pool with a bounded queue. Runs short jobs in FIFO order.
#pragma once

#include <deque>
#include <functional>
#include <semaphore>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace sk {

// The threads of a pool and its jobs at one moment.
struct PoolLoad {
  size_t threads = 0;
  size_t running = 0;
  size_t waiting = 0;
};

// Jobs must not throw. The destructor runs the queued jobs, then joins. Wakes idle threads in LIFO order, so
// the one with the warmest cache runs next and the others stay asleep. Thread-safe.
class WorkerPool {
 public:
  WorkerPool(size_t thread_count, size_t queue_max);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Queues the job. Returns false, without running the job, when the queue is full or the pool is stopping.
  // The caller then answers 503.
  [[nodiscard]] bool submit(std::function<void()> job);
  // Queues the job even if the queue is full. For jobs that are bounded elsewhere, such as one per open
  // connection.
  void submit_always(std::function<void()> job);
  // Makes submit() refuse new jobs, runs the queued ones, then joins. Idempotent. A job that is passed to
  // submit_always() after that never runs.
  void stop();

  PoolLoad load() const;

 private:
  using Sleeper = std::binary_semaphore;

  void run(Sleeper& self);
  Sleeper* take_idle() SK_REQUIRES(mutex_);

  const size_t queue_max_;
  mutable Mutex mutex_;
  std::deque<std::function<void()>> queue_ SK_GUARDED_BY(mutex_);
  std::vector<Sleeper*> idle_ SK_GUARDED_BY(mutex_);  // LIFO, most recently active at the back
  size_t running_ SK_GUARDED_BY(mutex_) = 0;          // jobs
  bool stopping_ SK_GUARDED_BY(mutex_) = false;
  std::deque<Sleeper> sleepers_;  // one per thread
  std::vector<std::thread> threads_;
};

}  // namespace sk
