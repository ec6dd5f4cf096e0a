// How many of something are under way, and a way to wait until there is none. Any thread.
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
    // Notified under the lock: the waiter may destroy this as soon as it sees zero.
    if (--count_ == 0) none_.notify_all();
  }
  void wait_none() {
    std::unique_lock lock(mutex_);
    none_.wait(lock, [this] { return count_ == 0; });
  }
  // False when there are still some after `limit`.
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
