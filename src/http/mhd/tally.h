// Counts operations in progress and waits until there are none. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/mutex.h"

namespace sk::http {

class Tally {
 public:
  void add() {
    MutexLock lock(mutex_);
    ++count_;
  }
  void remove() {
    MutexLock lock(mutex_);
    // Notify under the lock: the waiter may destroy this object as soon as it sees zero.
    if (--count_ == 0) none_.notify_all();
  }
  void wait_none() {
    MutexLock lock(mutex_);
    none_.wait(lock, [this]() SK_REQUIRES(mutex_) { return count_ == 0; });
  }
  // Returns false when some remain after `limit`.
  bool wait_none_for(std::chrono::milliseconds limit) {
    MutexLock lock(mutex_);
    return none_.wait_for(lock, limit, [this]() SK_REQUIRES(mutex_) { return count_ == 0; });
  }

 private:
  Mutex mutex_;
  ConditionVariable none_;
  size_t count_ SK_GUARDED_BY(mutex_) = 0;
};

}  // namespace sk::http
