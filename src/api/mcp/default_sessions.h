// The interpreter session for clients that name none: one per principal, workspace and name. A label
// identifies it after a restart.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "base/mutex.h"
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

  // Held while a session is searched or created, so that concurrent first calls create only one.
  Mutex making_;
  Mutex mutex_;
  std::map<Key, Id> known_ SK_GUARDED_BY(mutex_);
};

}  // namespace sk::api::mcp
