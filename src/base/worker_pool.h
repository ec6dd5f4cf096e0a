// A fixed number of threads that run short jobs in order of arrival; the queue is bounded.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

namespace sk {

// Jobs must not throw. The destructor runs what is queued, then joins. Of the threads that have nothing to
// do, the one that worked last is woken first: what it needs is still in the processor's caches, and the
// others stay asleep.
class WorkerPool {
 public:
  WorkerPool(size_t thread_count, size_t queue_max);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False when the queue is full or the pool is stopping: the caller answers 503, the job is not run.
  [[nodiscard]] bool submit(std::function<void()> job);
  // For jobs whose queue is bounded elsewhere (one per open connection): never refused for length.
  void submit_always(std::function<void()> job);
  // Refuses new jobs, runs those queued, joins. Idempotent.
  void stop();

 private:
  using Sleeper = std::binary_semaphore;

  void run(Sleeper& self);
  Sleeper* take_idle();  // with mutex_ held

  const size_t queue_max_;
  std::mutex mutex_;
  std::deque<std::function<void()>> queue_;  // guarded by mutex_
  std::vector<Sleeper*> idle_;               // guarded by mutex_; who worked last is at the back
  bool stopping_ = false;                    // guarded by mutex_
  std::deque<Sleeper> sleepers_;             // one for each thread
  std::vector<std::thread> threads_;
};

}  // namespace sk
