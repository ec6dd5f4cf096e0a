// Which interpreter a client means that names none: one per principal, workspace and name, found again after
// a restart by its label.
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
  // The actor's session of that name in the workspace; made when there is none.
  Id find_or_create(interpreter::Interpreter& interpreter, const workspace::Authority& authority,
                    const std::string& name);

 private:
  using Key = std::tuple<Id, Id, std::string>;
  Id known(const Key& key);  // zero when it is not

  std::mutex making_;  // held while a session is looked for or made, so that two first calls make one
  std::mutex mutex_;
  std::map<Key, Id> known_;  // guarded by mutex_
};

}  // namespace sk::api::mcp
