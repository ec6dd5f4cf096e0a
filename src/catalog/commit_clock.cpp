#include "catalog/commit_clock.h"

#include <algorithm>
#include <chrono>

#include "base/log.h"

namespace sk::catalog {

namespace {

// Two threads that read the clock may come here in the other order.
constexpr int64_t kJitterUs = 10 * kMillisecondUs;

int64_t steady_us() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

TimeUs CommitClock::now_us() const {
  TimeUs source_us = source_.now_us();
  TimeUs last_us = last_us_.load(std::memory_order_relaxed);
  if (source_us < last_us) return last_us - source_us < kJitterUs ? last_us : while_behind(source_us);
  advance_to(source_us);
  return source_us;
}

void CommitClock::advance_to(TimeUs time_us) const {
  TimeUs last_us = last_us_.load(std::memory_order_relaxed);
  while (last_us < time_us && !last_us_.compare_exchange_weak(last_us, time_us, std::memory_order_relaxed)) {
  }
}

TimeUs CommitClock::while_behind(TimeUs source_us) const {
  MutexLock lock(mutex_);
  TimeUs last_us = last_us_.load(std::memory_order_relaxed);
  if (last_us != reached_us_) {
    if (reached_us_ == 0)
      log::warn(
          "the clock is behind the catalog's last change; times advance at half speed until it catches up",
          {{"behind_us", last_us - source_us}});
    from_us_ = last_us;
    steady_from_us_ = steady_us();
  }
  reached_us_ = std::max(last_us, from_us_ + (steady_us() - steady_from_us_) / 2);
  advance_to(reached_us_);
  return reached_us_;
}

}  // namespace sk::catalog
