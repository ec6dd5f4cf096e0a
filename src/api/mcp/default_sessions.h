// The interpreter session for clients that name none: one per principal, workspace and name. A label
// identifies it after a restart.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "interpreter/interpreter.h"
#include "workspace/types.h"

namespace sk::api::mcp {

// Any thread.
class DefaultSessions {
 public:
  // Returns the actor's session of that name in the workspace. Creates it when there is none. Throws Error.
  Id find_or_create(interpreter::Interpreter& interpreter, const workspace::Authority& authority,
                    const std::string& name);

 private:
  using Key = std::tuple<Id, Id, std::string>;
  Id known(const Key& key);  // zero when unknown

  std::mutex
      making_;  // held while a session is searched or created, so that concurrent first calls create only one
  std::mutex mutex_;
  std::map<Key, Id> known_;  // guarded by mutex_
};

}  // namespace sk::api::mcp
