// The order in which queued writes run. Writes of one tenant run in their order. Between tenants, the one
// that has used the least of the writer's time is next, so that a tenant whose writes are slow, or many,
// delays its own.
#pragma once

#include <chrono>
#include <deque>
#include <unordered_map>
#include <vector>

#include "base/id.h"

namespace sk::catalog {

// Not thread-safe; a pure value, so that tests are exact. Does not own the writes.
class WriteQueue {
 public:
  struct Write {
    Id tenant;
    std::chrono::nanoseconds took{0};  // set by the thread that ran it
    bool done = false;
  };

  void push(Write& write);
  // Returns at most `max` writes, in the order in which they run. They stay in the queue.
  std::vector<Write*> next(size_t max) const;
  // Removes the writes that are done, and counts their time.
  void remove_done();
  Write* oldest() const { return writes_.empty() ? nullptr : writes_.front(); }
  size_t size() const { return writes_.size(); }
  // Tenants with queued writes. Others use no memory.
  size_t tenants() const { return tenants_.size(); }

 private:
  struct Tenant {
    size_t queued = 0;
    std::chrono::nanoseconds used{0};  // of the writer's time, from the least of the others on
    uint64_t served = 0;               // the group that served it last; 0: none
  };

  std::deque<Write*> writes_;  // by arrival
  std::unordered_map<Id, Tenant> tenants_;
  uint64_t groups_ = 0;
};

}  // namespace sk::catalog
