// The catalog's time. It follows a clock, but never goes back: neither while the server runs nor across a
// restart, since the catalog tells it the time of the last commit.
#pragma once

#include <atomic>

#include "base/clock.h"
#include "base/mutex.h"

namespace sk::catalog {

// Any thread. While the clock is behind (somebody set it back), time passes at half speed, so that locks and
// keys still expire, until the clock has caught up.
class CommitClock final : public Clock {
 public:
  explicit CommitClock(const Clock& source) : source_(source) {}

  TimeUs now_us() const override;
  // No later call of now_us() returns an earlier time.
  void advance_to(TimeUs time_us) const;

 private:
  TimeUs while_behind(TimeUs source_us) const;

  const Clock& source_;
  mutable std::atomic<TimeUs> last_us_{0};
  mutable Mutex mutex_;
  mutable TimeUs from_us_ SK_GUARDED_BY(mutex_) = 0;          // last_us_ when the clock was found behind
  mutable TimeUs reached_us_ SK_GUARDED_BY(mutex_) = 0;       // the last time that while_behind() returned
  mutable int64_t steady_from_us_ SK_GUARDED_BY(mutex_) = 0;  // steady time at from_us_
};

}  // namespace sk::catalog
