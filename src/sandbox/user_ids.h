// User and group ids of sessions. If the server is root, each session has its own ids, so sessions do not
// share the kernel's per-user limits. On disk, one further id owns all files; an id-mapped mount translates.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/mutex.h"

namespace sk::sandbox {

struct UserIdPlan {
  // Applies to uid and gid. `first` owns files on disk; sessions get first+1 … first+count. With count 0,
  // every session runs as `session`.
  uint32_t owner_uid = 0, owner_gid = 0;
  uint32_t session = 0;
  uint32_t first = 0, count = 0;
};

// Returns the start of `count` ids that lie in one range of /proc/self/uid_map and that no distribution
// assigns. Returns 0 when there is none.
uint32_t choose_first_id(std::string_view uid_map, uint32_t count);

// Thread-safe.
class UserIds {
 public:
  explicit UserIds(const UserIdPlan& plan);
  const UserIdPlan& plan() const { return plan_; }
  // Throws Error(too_many_requests) when all ids are in use.
  uint32_t acquire();
  void release(uint32_t id);

 private:
  const UserIdPlan plan_;
  Mutex mutex_;
  std::vector<uint32_t> free_ SK_GUARDED_BY(mutex_);
};

}  // namespace sk::sandbox
