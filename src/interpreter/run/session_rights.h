// The rights with which code runs in one awake session: one for each key that asked for an execution. The
// session belongs to one principal, so they only differ in the key.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "workspace/revocations.h"

namespace sk::interpreter {

// Any thread. `revocations` outlives it.
class SessionRights {
 public:
  explicit SessionRights(workspace::Revocations& revocations) : revocations_(revocations) {}

  // Adds the authority's key, unless it is there. Throws if its right to write has ended. `on_end` is called
  // when it ends later (workspace/revocations.h), and calls remove().
  void admit(const workspace::Authority& authority, workspace::Revocations::OnEnd on_end);
  void remove(const Id& key);

  // Throws if the right of a key has ended since it was admitted.
  void check(const Id& key) const;
  // Returns why it has ended, as the message of an execution; nullopt if it holds.
  std::optional<std::string> ended(const Id& key) const;
  static std::string message_of(const Error& error);

 private:
  workspace::Revocations& revocations_;
  mutable Mutex mutex_;
  // By key; zero for a token. Shared with checks, which read the catalog without the mutex.
  std::map<Id, std::shared_ptr<const workspace::RightWatch>> by_key_ SK_GUARDED_BY(mutex_);
};

}  // namespace sk::interpreter
