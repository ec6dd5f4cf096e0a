// Locks: the exclusive or shared right to write a path until an expiry time. Every change to files checks
// them, whichever API it comes from (lock_check.h).
#pragma once

#include "workspace/authority.h"
#include "workspace/keep_context.h"
#include "workspace/types.h"

namespace sk::workspace {

struct LockWanted {
  std::string path;  // a file, a folder, or a path that does not exist yet
  bool deep = true;  // for folders: covers everything below
  bool shared = false;
  std::string purpose;
  int64_t ttl_s = 300;  // between the limits in the settings
};

// Any thread.
class Locks {
 public:
  explicit Locks(KeepContext& context) : context_(context) {}

  // Error(locked) with holder, expiry and purpose if another lock conflicts.
  Lock acquire(const Authority& authority, const LockWanted& wanted);
  // Like acquire(), but returns the conflicting lock instead of throwing. Call again when Feed reports a
  // change or when that lock expires.
  struct Attempt {
    std::optional<Lock> lock;
    std::optional<Lock> in_the_way;
  };
  Attempt try_acquire(const Authority& authority, const LockWanted& wanted);
  Lock renew(const Authority& authority, const std::string& token, int64_t ttl_s);
  void release(const Authority& authority, const std::string& token);
  // Releases a lock without its token. For the workspace's owner; the journal records it as a break.
  void break_lock(const Authority& authority, const Id& lock);
  std::vector<Lock> list(const Authority& authority, std::string_view below = "");

  // Deletes expired locks and writes their journal entries; called by the background thread.
  size_t expire();

 private:
  KeepContext& context_;
};

}  // namespace sk::workspace
