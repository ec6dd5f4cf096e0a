// Counts operations in progress and waits until there are none. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace sk::http {

class Tally {
 public:
  void add() {
    std::lock_guard lock(mutex_);
    ++count_;
  }
  void remove() {
    std::lock_guard lock(mutex_);
    // Notify under the lock: the waiter may destroy this object as soon as it sees zero.
    if (--count_ == 0) none_.notify_all();
  }
  void wait_none() {
    std::unique_lock lock(mutex_);
    none_.wait(lock, [this] { return count_ == 0; });
  }
  // Returns false when some remain after `limit`.
  bool wait_none_for(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return none_.wait_for(lock, limit, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  size_t count_ = 0;  // guarded by mutex_
};

}  // namespace sk::http
