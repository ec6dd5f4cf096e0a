// The memory for request bodies that the server holds: one budget for all connections, of which one owner may
// use half. The bytes of a body count from their arrival until the request ends. Without it, as many clients
// as there are connections could each fill the limit of a route.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/metrics.h"
#include "base/mutex.h"

namespace sk::http {

// Any thread.
class BodyBudget {
 public:
  BodyBudget(uint64_t bytes_max, Gauge& in_use) : bytes_max_(bytes_max), in_use_(in_use) {}

  // The part that one owner may use.
  uint64_t owner_bytes_max() const { return bytes_max_ / 2; }
  int64_t used_bytes() const { return in_use_.value(); }

  // The part that one request uses. Gives it back when destroyed. One thread at a time.
  class Share {
   public:
    explicit Share(BodyBudget& budget) : budget_(budget) {}
    ~Share() { release(); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // Makes the share cover that many bytes, which count for `owner`. Returns false, and changes nothing,
    // when the budget or the owner's part of it is used up.
    bool cover(uint64_t bytes, const std::string& owner);
    void release();

   private:
    BodyBudget& budget_;
    std::string owner_;
    uint64_t bytes_ = 0;
  };

 private:
  bool take(const std::string& owner, uint64_t bytes);
  void give_back(const std::string& owner, uint64_t bytes);

  const uint64_t bytes_max_;
  Gauge& in_use_;
  Mutex mutex_;
  uint64_t used_bytes_ SK_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, uint64_t> used_by_ SK_GUARDED_BY(mutex_);  // owners that use something
};

}  // namespace sk::http
