// Shares threads between keys (tenants), so that one key's jobs cannot occupy all of them. FairQueue decides
// whose job runs next; FairPool runs the jobs.
//
// A key may run many jobs that wait for the disk, but only few that compute: with as many runnable threads as
// a pool has, every other thread of the process would wait for the processor behind them.
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/id.h"
#include "base/mutex.h"
#include "base/worker_pool.h"

namespace sk {

// Jobs of one key run in their order. Between keys, jobs are taken in turns: a key with one waiting job is
// served after at most one job of each other key. Not thread-safe; a pure value, so that tests are exact.
class FairQueue {
 public:
  struct Limits {
    size_t running_per_key_max;  // jobs of one key at the same time
    size_t waiting_per_key_max;
    size_t waiting_max;                         // of all keys
    size_t computing_per_key_max = ~size_t{0};  // of those that run, jobs that are not paused
  };
  using Job = std::function<void()>;
  struct Taken {
    Id key;
    Job job;
  };
  explicit FairQueue(Limits limits) : limits_(limits) {}

  // False when the key, or the queue, has too many waiting jobs.
  bool has_room(const Id& key) const;
  void push(const Id& key, Job job);
  // The next job of a key that runs fewer than its limit; nullopt when there is none. Call done() when it has
  // ended.
  std::optional<Taken> take();
  void done(const Id& key);
  // A running job of the key waits, such as for the disk, and uses no processor until resume(). Returns
  // whether a job that was held back may run now.
  bool pause(const Id& key);
  void resume(const Id& key);

  size_t waiting() const { return waiting_; }
  size_t running() const { return running_; }
  // Keys with waiting or running jobs. Others use no memory.
  size_t keys() const { return keys_.size(); }
  // The waiting and running jobs of each of these keys, in no order.
  struct KeyLoad {
    Id key;
    size_t running = 0;
    size_t waiting = 0;
  };
  std::vector<KeyLoad> loads() const;

 private:
  struct Key {
    std::deque<Job> jobs;
    size_t running = 0;
    size_t paused = 0;      // of the running ones
    bool in_turns = false;  // whether it is in turns_: it had a waiting job, and could run one more
  };
  bool may_run(const Key& key) const;
  bool line_up(const Id& id, Key& key);

  const Limits limits_;
  std::unordered_map<Id, Key> keys_;
  std::list<Id> turns_;  // keys that may run a job now, unless one was resumed since; the first one is next
  size_t waiting_ = 0, running_ = 0;
};

// The jobs of a FairPool at one moment, in all and by key.
struct FairLoad {
  PoolLoad all;
  std::vector<FairQueue::KeyLoad> keys;
};

// Any thread. Jobs must not throw. A job runs on behalf of its key (base/on_behalf.h). The destructor runs
// the queued jobs, then joins.
class FairPool {
 public:
  // With more threads than `running_per_key_max`, one key leaves threads to the others.
  FairPool(size_t thread_count, FairQueue::Limits limits) : queue_(limits), threads_(thread_count, 0) {}
  FairPool(const FairPool&) = delete;
  FairPool& operator=(const FairPool&) = delete;

  // Queues the job. Returns false, without running it, when the key or the pool has too many waiting jobs.
  [[nodiscard]] bool submit(const Id& key, FairQueue::Job job);
  // Queues the job even if the queue is full. For jobs that are bounded elsewhere, such as one per session.
  void submit_always(const Id& key, FairQueue::Job job);
  // Runs the queued jobs, then joins. Idempotent. A job that is passed to submit_always() after that never
  // runs.
  void stop() { threads_.stop(); }

  FairLoad load() const;

  // Marks a part of a job that waits for something other than the processor. Another job of its key may
  // compute meanwhile; without the mark, a few jobs that wait would hold up all others of the key. Does
  // nothing on a thread that runs no job of a FairPool, and inside of another pause.
  class Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    FairPool* const pool_;  // null: nothing to resume
  };

 private:
  void run();

  // The job that a thread runs, while it is not paused.
  struct Current {
    FairPool* pool = nullptr;
    Id key;
  };
  static Current& current();

  mutable Mutex mutex_;
  FairQueue queue_ SK_GUARDED_BY(mutex_);
  WorkerPool threads_;
};

}  // namespace sk
