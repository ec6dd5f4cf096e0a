#include "bridge/patience.h"

namespace sk::bridge {

void StopSignal::stop() {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_all();
}

bool StopSignal::stopped() const {
  MutexLock lock(mutex_);
  return stopped_;
}

bool StopSignal::sleep_until(std::chrono::steady_clock::time_point time) {
  MutexLock lock(mutex_);
  return !wake_.wait_until(lock, time, [this]() SK_REQUIRES(mutex_) { return stopped_; });
}

bool Patience::pause(std::chrono::milliseconds time) {
  auto until = std::chrono::steady_clock::now() + time;
  if (until >= deadline_) return false;
  return signal_.sleep_until(until);
}

}  // namespace sk::bridge
