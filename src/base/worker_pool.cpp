#include "base/worker_pool.h"

namespace sk {

WorkerPool::WorkerPool(size_t thread_count, size_t queue_max) : queue_max_(queue_max) {
  idle_.reserve(thread_count);
  for (size_t i = 0; i < thread_count; ++i) sleepers_.emplace_back(0);
  for (Sleeper& sleeper : sleepers_) threads_.emplace_back([this, &sleeper] { run(sleeper); });
}

WorkerPool::~WorkerPool() { stop(); }

bool WorkerPool::submit(std::function<void()> job) {
  MutexLock lock(mutex_);
  if (stopping_ || queue_.size() >= queue_max_) return false;
  queue_.push_back(std::move(job));
  Sleeper* sleeper = take_idle();
  lock.unlock();
  if (sleeper != nullptr) sleeper->release();
  return true;
}

void WorkerPool::submit_always(std::function<void()> job) {
  MutexLock lock(mutex_);
  queue_.push_back(std::move(job));
  Sleeper* sleeper = take_idle();
  lock.unlock();
  if (sleeper != nullptr) sleeper->release();
}

void WorkerPool::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    while (Sleeper* sleeper = take_idle()) sleeper->release();
  }
  for (auto& thread : threads_)
    if (thread.joinable()) thread.join();
}

PoolLoad WorkerPool::load() const {
  MutexLock lock(mutex_);
  return {sleepers_.size(), running_, queue_.size()};
}

// Returns null when all threads are busy. A busy thread checks the queue before it sleeps.
WorkerPool::Sleeper* WorkerPool::take_idle() {
  if (idle_.empty()) return nullptr;
  Sleeper* sleeper = idle_.back();
  idle_.pop_back();
  return sleeper;
}

void WorkerPool::run(Sleeper& self) {
  MutexLock lock(mutex_);
  for (;;) {
    while (queue_.empty() && !stopping_) {
      idle_.push_back(&self);
      lock.unlock();
      self.acquire();
      lock.lock();
    }
    if (queue_.empty()) return;
    auto job = std::move(queue_.front());
    queue_.pop_front();
    ++running_;
    lock.unlock();
    job();
    job = nullptr;  // release the job's captures before taking the next job
    lock.lock();
    --running_;
  }
}

}  // namespace sk
