// Checks a write against locks and fences; private to this room.
#pragma once

#include "base/error.h"
#include "catalog/database.h"
#include "workspace/types.h"

namespace sk::workspace {

// The parts of the tree that a write affects. They decide which locks block it.
enum class Touches {
  content,     // the entry's bytes or attributes
  membership,  // the entry enters or leaves its folder
  subtree,  // membership and everything below. Creating an entry always affects its subtree: a folder brings
            // its contents, and a file excludes any.
};

// Returns the locks of the workspace that have not expired. Lock::token holds `token_hash` as raw bytes.
std::vector<Lock> live_locks(catalog::Statements& statements, const Id& workspace, TimeUs now_us);

// The locks of a workspace within one transaction. Reads them once for all checks. Used by one thread.
class LockCheck {
 public:
  LockCheck(catalog::Statements& statements, const Id& workspace, TimeUs now_us)
      : statements_(statements), workspace_(workspace), now_us_(now_us) {}

  // Error(locked) unless the tokens open every lock that blocks the write. Error(precondition_failed) if a
  // token or the fence is stale.
  void check(std::string_view path, Touches touches, const Conditions& conditions);

 private:
  catalog::Statements& statements_;
  const Id workspace_;
  const TimeUs now_us_;
  std::optional<std::vector<Lock>> live_;
};

// Copies fences when an entry moves. The fences of `from`, of entries below it and of folders that covered it
// then also apply to `to`. The old path keeps them too, since it was also locked.
void carry_fences(catalog::Tx& tx, const Id& workspace, std::string_view from, std::string_view to);

// Returns Error(locked) with the holder, the expiry and the purpose.
[[nodiscard]] Error locked_error(const Lock& lock);

}  // namespace sk::workspace
