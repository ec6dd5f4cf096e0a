// A mutex and its lock, which clang checks: every member names the mutex that guards it, and an access
// without that mutex does not compile (-Wthread-safety). For g++ the attributes are empty.
//
//   Mutex mutex_;
//   int count_ SK_GUARDED_BY(mutex_) = 0;
//   void add_locked() SK_REQUIRES(mutex_);  // the caller holds mutex_
//
// To clang a lambda is a function of its own. One that runs under the caller's lock says so:
//
//   changed_.wait(lock, [this]() SK_REQUIRES(mutex_) { return count_ > 0; });
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#if defined(__clang__)
#define SK_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define SK_THREAD_ATTRIBUTE(x)
#endif
#define SK_GUARDED_BY(mutex) SK_THREAD_ATTRIBUTE(guarded_by(mutex))
#define SK_REQUIRES(...) SK_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define SK_ACQUIRE(...) SK_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define SK_RELEASE(...) SK_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define SK_TRY_ACQUIRE(...) SK_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
// For a function that clang cannot follow. State the reason beside it.
#define SK_NOT_CHECKED SK_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace sk {

class SK_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() SK_ACQUIRE() { mutex_.lock(); }
  void unlock() SK_RELEASE() { mutex_.unlock(); }
  bool try_lock() SK_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

// Holds a mutex until the end of its scope. unlock() and lock() let go of it in between.
class SK_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) SK_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  // Takes over a mutex that try_lock() has locked.
  MutexLock(Mutex& mutex, std::adopt_lock_t adopted) SK_REQUIRES(mutex) : lock_(mutex.mutex_, adopted) {}
  ~MutexLock() SK_RELEASE() {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() SK_ACQUIRE() { lock_.lock(); }
  void unlock() SK_RELEASE() { lock_.unlock(); }

 private:
  friend class ConditionVariable;
  std::unique_lock<std::mutex> lock_;
};

// Waits are called with the lock held and return with it held. `ready` is called under the lock.
class ConditionVariable {
 public:
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

  void wait(MutexLock& lock) { condition_.wait(lock.lock_); }
  template <typename Ready>
  void wait(MutexLock& lock, Ready ready) {
    condition_.wait(lock.lock_, std::move(ready));
  }
  template <typename Rep, typename Period, typename Ready>
  bool wait_for(MutexLock& lock, std::chrono::duration<Rep, Period> time, Ready ready) {
    return condition_.wait_for(lock.lock_, time, std::move(ready));
  }
  template <typename Clock, typename Duration>
  void wait_until(MutexLock& lock, std::chrono::time_point<Clock, Duration> time) {
    condition_.wait_until(lock.lock_, time);
  }
  template <typename Clock, typename Duration, typename Ready>
  bool wait_until(MutexLock& lock, std::chrono::time_point<Clock, Duration> time, Ready ready) {
    return condition_.wait_until(lock.lock_, time, std::move(ready));
  }

 private:
  std::condition_variable condition_;
};

}  // namespace sk
