// Counts events by key over the last seconds, for rates that operators see.
//
// Two windows of five seconds take turns: the current one counts, the one before is complete. A rate covers
// both, so it spans five to ten seconds. Memory is bounded by the keys that were active in that time.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/clock.h"
#include "base/id.h"
#include "base/mutex.h"

namespace sk {

// Any thread. Time comes as a parameter, and may go back by a little between threads.
class RecentCounts {
 public:
  static constexpr int64_t kWindowUs = 5 * kSecondUs;

  // `since_us`: the start of the counting.
  explicit RecentCounts(TimeUs since_us) : before_since_us_(since_us), since_us_(since_us) {}

  void add(const Id& key, TimeUs now_us);

  struct Rates {
    double per_s = 0;                       // of all keys
    std::unordered_map<Id, double> by_key;  // per second; only keys with events
  };
  Rates rates(TimeUs now_us);

 private:
  using Counts = std::unordered_map<Id, uint64_t>;
  void turn(TimeUs now_us) SK_REQUIRES(mutex_);

  Mutex mutex_;
  Counts before_ SK_GUARDED_BY(mutex_);  // of the window before the current one
  Counts now_ SK_GUARDED_BY(mutex_);
  TimeUs before_since_us_ SK_GUARDED_BY(mutex_);
  TimeUs since_us_ SK_GUARDED_BY(mutex_);  // start of the current window
};

}  // namespace sk
