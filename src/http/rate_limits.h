// Rate limits: token buckets in a table of bounded size, and the headers that tell clients about them (IETF
// draft-ietf-httpapi-ratelimit-headers: RateLimit and RateLimit-Policy).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/mutex.h"
#include "http/message.h"

namespace sk::http {

// A bucket holds up to `burst` units and gets `per_s` of them each second. A request takes one.
struct RateOptions {
  double per_s = 0;  // 0: no limit
  double burst = 0;  // at least 1 where there is a limit
};

// Returns the limit that two settings describe. Without a burst, it is what comes in ten seconds.
RateOptions rate_options(uint64_t per_s, uint64_t burst);

// Whose bucket it is.
struct BucketKey {
  uint64_t high = 0, low = 0;
  bool operator==(const BucketKey&) const = default;
};

// One bucket per IPv4 address, and per /64 of IPv6, because a client has all addresses of such a network.
// Text that is no address has one bucket together.
BucketKey bucket_of_address(std::string_view address);
BucketKey bucket_of_id(const Id& id);
// Returns whether the address is one of this machine's own.
bool is_loopback_address(std::string_view address);

// A bucket after a request.
struct RateState {
  bool admitted = true;
  uint64_t remaining = 0;     // whole units
  int64_t retry_after_s = 0;  // until there is a unit, at least 1; 0 while there is one
  int64_t full_after_s = 0;   // until it is full
};

// Buckets of one limit. Any thread. A call costs a lookup under a mutex, and allocates nothing once the table
// is full. The memory is bounded: a newcomer takes the row that was unused for longest, and continues its
// bucket. That is full, unless more newcomers than rows came in the time in which a bucket fills; then all of
// them together have what the rows allow.
class BucketTable {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr size_t kRowsMax = 16'384;

  explicit BucketTable(RateOptions options, size_t rows_max = kRowsMax);

  const RateOptions& options() const { return options_; }
  bool is_on() const { return options_.per_s > 0; }
  // Returns whether a bucket may be less than full. Waits for nothing.
  bool is_used() const { return used_.load(std::memory_order_relaxed); }

  // Takes a unit if there is one. Requires is_on().
  RateState take(const BucketKey& key, Time now);
  // Returns the state, `admitted` meaning that there is a unit.
  RateState look(const BucketKey& key, Time now) const;
  size_t rows() const;

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Row {
    BucketKey key;
    double units = 0;
    Time at;
    uint32_t next = kNone;                  // in the chain of its hash
    uint32_t older = kNone, newer = kNone;  // by use
  };

  size_t chain_of(const BucketKey& key) const;
  uint32_t find(const BucketKey& key) const SK_REQUIRES(mutex_);
  uint32_t make(const BucketKey& key, Time now) SK_REQUIRES(mutex_);
  void leave_chain(uint32_t index) SK_REQUIRES(mutex_);
  void leave_order(uint32_t index) SK_REQUIRES(mutex_);
  void become_newest(uint32_t index) SK_REQUIRES(mutex_);
  double units_at(const Row& row, Time now) const;
  RateState state_of(double units, bool admitted) const;

  const RateOptions options_;
  const size_t rows_max_;
  const uint64_t seed_;  // clients must not be able to choose addresses that share a chain
  std::atomic<bool> used_{false};
  mutable Mutex mutex_;
  std::vector<Row> rows_ SK_GUARDED_BY(mutex_);
  std::vector<uint32_t> chains_ SK_GUARDED_BY(mutex_);
  uint32_t oldest_ SK_GUARDED_BY(mutex_) = kNone;
  uint32_t newest_ SK_GUARDED_BY(mutex_) = kNone;
};

// Adds the state of a limit to the headers of the request's reply. `policy` names the limit.
void note_rate(Request& request, std::string_view policy, const RateOptions& options, const RateState& state);

// Counts a request: takes a unit and notes the state. Does nothing where there is no limit.
// Error(too_many_requests) without a unit.
void count_request(Request& request, std::string_view policy, BucketTable& table, const BucketKey& key,
                   BucketTable::Time now);

// Sets RateLimit, RateLimit-Policy and Retry-After as the request's limits require.
void add_rate_headers(const Request& request, Headers& headers);

}  // namespace sk::http
