// One thread that waits for all kernels' descriptors and for the next tick. It only dispatches: the work
// happens on the sessions' strands.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <unordered_map>

#include "base/fd.h"
#include "base/mutex.h"

namespace sk::interpreter {

// Any thread, except start() and stop(), which the owner calls once each.
class KernelLoop {
 public:
  KernelLoop();
  ~KernelLoop();

  // Calls `tick` ten times a second, on the loop's thread.
  void start(std::function<void()> tick);
  // Waits for the thread. No callback runs afterwards. Idempotent.
  void stop();

  // Calls `on_ready` once when the descriptor is readable, and again after each rearm(). Callbacks must be
  // short. Call forget() before closing the descriptor.
  void watch(int fd, std::function<void()> on_ready);
  void rearm(int fd);
  void forget(int fd);

 private:
  void run(const std::function<void()>& tick);

  Fd epoll_, wake_;
  std::atomic<bool> stopping_{false};
  Mutex mutex_;
  std::unordered_map<int, std::function<void()>> by_fd_ SK_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace sk::interpreter
