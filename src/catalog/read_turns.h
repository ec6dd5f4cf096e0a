// The order in which tenants get the catalog's readers. One tenant holds at most some of them, so that a slow
// read of one never occupies all. Among tenants that wait, the one that holds the fewest readers is next.
#pragma once

#include <cstddef>
#include <vector>

#include "base/id.h"

namespace sk::catalog {

// Not thread-safe; a pure value, so that tests are exact. Allocates only when a read must wait. Does not own
// the waiting reads.
class ReadTurns {
 public:
  struct Wait {
    Id tenant;
    bool has_reader = false;  // set by give_back()
  };

  explicit ReadTurns(size_t readers_max);

  // Takes a reader for the tenant. Returns false when none is free, or when the tenant holds its part.
  [[nodiscard]] bool take(const Id& tenant);
  // Queues a read for which take() returned false. It stays valid until it has a reader.
  void push(Wait& wait) { waits_.push_back(&wait); }
  // Returns a tenant's reader. Gives it to the next waiting read, and returns that read, or null.
  Wait* give_back(const Id& tenant);

  // The readers that one tenant may hold: at least half, and all but two where there are more.
  size_t tenant_max() const { return tenant_max_; }
  size_t in_use() const { return in_use_; }
  size_t waiting() const { return waits_.size(); }

 private:
  struct Holder {
    Id tenant;
    size_t readers;
  };
  size_t held_by(const Id& tenant) const;

  const size_t readers_max_;
  const size_t tenant_max_;
  size_t in_use_ = 0;
  std::vector<Holder> holders_;  // tenants that hold readers, in no order
  std::vector<Wait*> waits_;     // by arrival; none of them may have a reader now
};

}  // namespace sk::catalog
