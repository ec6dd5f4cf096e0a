// Runs jobs one after the other, in order, on threads of a pool. They count for one key of the pool, so that
// one principal's sessions leave threads to those of others.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "base/fair_queue.h"
#include "base/mutex.h"

namespace sk::interpreter {

// Any thread. Jobs must not throw. Must be kept alive by its jobs (capture a shared_ptr to its owner).
class Strand {
 public:
  Strand(FairPool& pool, const Id& key) : pool_(pool), key_(key) {}

  void post(std::function<void()> job) {
    {
      MutexLock lock(mutex_);
      jobs_.push_back(std::move(job));
      if (running_) return;
      running_ = true;
    }
    pool_.submit_always(key_, [this, alive = jobs_owner()] { run(); });
  }

  // Runs the job at once on the caller's thread when no other job runs or waits; else like post(). For short
  // jobs: it saves a switch to another thread.
  void run_or_post(std::function<void()> job) {
    {
      MutexLock lock(mutex_);
      if (running_) {
        jobs_.push_back(std::move(job));
        return;
      }
      running_ = true;
    }
    job();
    {
      MutexLock lock(mutex_);
      if (jobs_.empty()) {
        running_ = false;
        return;
      }
    }
    pool_.submit_always(key_, [this, alive = jobs_owner()] { run(); });
  }

  // Sets the owner that keeps the strand alive while it runs. Call once, before the first job.
  void owned_by(std::weak_ptr<void> owner) { owner_ = std::move(owner); }

 private:
  std::shared_ptr<void> jobs_owner() { return owner_.lock(); }

  void run() {
    for (;;) {
      std::function<void()> job;
      {
        MutexLock lock(mutex_);
        if (jobs_.empty()) {
          running_ = false;
          return;
        }
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      job();
    }
  }

  FairPool& pool_;
  const Id key_;
  std::weak_ptr<void> owner_;
  Mutex mutex_;
  std::deque<std::function<void()>> jobs_ SK_GUARDED_BY(mutex_);
  bool running_ SK_GUARDED_BY(mutex_) = false;
};

}  // namespace sk::interpreter
