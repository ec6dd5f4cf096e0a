// Memory that the server gives to one purpose: one budget for all, of which one owner may use half. What a
// client or a tenant makes the server hold counts from the moment when it is held until it is given back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/metrics.h"
#include "base/mutex.h"

namespace sk {

// Any thread.
class MemoryBudget {
 public:
  MemoryBudget(uint64_t bytes_max, Gauge& in_use) : bytes_max_(bytes_max), in_use_(in_use) {}

  // The part that one owner may use.
  uint64_t owner_bytes_max() const { return bytes_max_ / 2; }
  int64_t used_bytes() const { return in_use_.value(); }
  // Whether more than three quarters are used: of all of it, or of the owner's part.
  bool is_tight() const;
  bool is_tight_for(const std::string& owner) const;
  // Returns the owner that has to give some back after a set(): this one if it is over its part; the one that
  // uses most if all of them together are over; nothing otherwise.
  std::optional<std::string> over(const std::string& owner) const;

  // The part that one holder uses. Gives it back when destroyed. One thread at a time.
  class Share {
   public:
    Share() = default;  // unlimited
    explicit Share(MemoryBudget& budget, std::string owner = {})
        : budget_(&budget), owner_(std::move(owner)) {}
    ~Share() { set(0); }
    Share(Share&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)),
          owner_(std::move(other.owner_)),
          bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&&) = delete;

    // Makes the share that large. Returns false, and changes nothing, when the budget or the owner's part of
    // it does not allow it to grow so much.
    bool resize(uint64_t bytes);
    // The same for memory that is in use already.
    void set(uint64_t bytes);
    // Makes the share cover that many bytes, in steps. They count for `owner`, unless the share has some of
    // another one. Returns false like resize().
    bool cover(uint64_t bytes, const std::string& owner);
    void release() { set(0); }
    uint64_t bytes() const { return bytes_; }

   private:
    MemoryBudget* budget_ = nullptr;
    std::string owner_;
    uint64_t bytes_ = 0;
  };

 private:
  bool change(const std::string& owner, uint64_t from, uint64_t to, bool must_fit);

  const uint64_t bytes_max_;
  Gauge& in_use_;
  mutable Mutex mutex_;
  uint64_t used_bytes_ SK_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, uint64_t> used_by_ SK_GUARDED_BY(mutex_);  // owners that use something
};

}  // namespace sk
