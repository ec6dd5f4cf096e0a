// Which user and group ids sessions run under. Where the server is root, each session has ids of its own, so
// that limits which the kernel keeps per user are not shared; on disk all files belong to one further id, and
// an id-mapped mount translates.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

namespace sk::sandbox {

struct UserIdPlan {
  // uid and gid alike. `first` owns files on disk; sessions get first+1 … first+count. count 0: every session
  // runs as `session`.
  uint32_t owner_uid = 0, owner_gid = 0;
  uint32_t session = 0;
  uint32_t first = 0, count = 0;
};

// The start of `count` ids that lie in one range of a /proc/self/uid_map and that no distribution hands out;
// 0 when there is none.
uint32_t choose_first_id(std::string_view uid_map, uint32_t count);

// Any thread.
class UserIds {
 public:
  explicit UserIds(const UserIdPlan& plan);
  const UserIdPlan& plan() const { return plan_; }
  // Throws Error(too_many_requests) when all are in use.
  uint32_t acquire();
  void release(uint32_t id);

 private:
  const UserIdPlan plan_;
  std::mutex mutex_;
  std::vector<uint32_t> free_;  // guarded by mutex_
};

}  // namespace sk::sandbox
