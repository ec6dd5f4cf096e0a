#include "base/recent_counts.h"

#include <algorithm>

namespace sk {

// Begins a new window when the current one is complete. After a pause of two windows, both are empty.
void RecentCounts::turn(TimeUs now_us) {
  if (now_us < since_us_ + kWindowUs) return;
  bool paused = now_us >= since_us_ + 2 * kWindowUs;
  before_ = paused ? Counts{} : std::move(now_);
  before_since_us_ = paused ? now_us - kWindowUs : since_us_;
  now_ = {};
  since_us_ = now_us;
}

void RecentCounts::add(const Id& key, TimeUs now_us) {
  MutexLock lock(mutex_);
  turn(now_us);
  ++now_[key];
}

RecentCounts::Rates RecentCounts::rates(TimeUs now_us) {
  MutexLock lock(mutex_);
  turn(now_us);
  // The first second counts as a whole one, so that a single event is no burst.
  double seconds = std::max(1.0, static_cast<double>(now_us - before_since_us_) / kSecondUs);
  Rates out;
  for (const auto* counts : {&before_, &now_})
    for (const auto& [key, count] : *counts) {
      double rate = static_cast<double>(count) / seconds;
      out.by_key[key] += rate;
      out.per_s += rate;
    }
  return out;
}

}  // namespace sk
