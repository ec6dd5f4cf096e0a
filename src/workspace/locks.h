// Locks: the exclusive (or shared) right to write a path for a while, enforced for every way in.
#pragma once

#include "workspace/authority.h"
#include "workspace/ground.h"
#include "workspace/types.h"

namespace sk::workspace {

struct LockWanted {
  std::string path;  // a file, a folder, or nothing yet
  bool deep = true;  // for folders: everything below too
  bool shared = false;
  std::string purpose;
  int64_t ttl_s = 300;  // within the limits of the settings
};

// Any thread.
class Locks {
 public:
  explicit Locks(Ground& ground) : ground_(ground) {}

  // Error(locked) with holder, expiry and purpose when another lock is in the way.
  Lock acquire(const Authority& authority, const LockWanted& wanted);
  // No lock instead of that error; then call again when Feed says that locks changed, or when the lock in the
  // way expires.
  struct Attempt {
    std::optional<Lock> lock;
    std::optional<Lock> in_the_way;
  };
  Attempt try_acquire(const Authority& authority, const LockWanted& wanted);
  Lock renew(const Authority& authority, const std::string& token, int64_t ttl_s);
  void release(const Authority& authority, const std::string& token);
  // Without the token: for the workspace's owner, and recorded as such.
  void break_lock(const Authority& authority, const Id& lock);
  std::vector<Lock> list(const Authority& authority, std::string_view below = "");

  // Writes the journal's entries for locks that ran out; called by the background keeper.
  size_t expire();

 private:
  Ground& ground_;
};

}  // namespace sk::workspace
