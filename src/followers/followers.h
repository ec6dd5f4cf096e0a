// The followers of a server: what it does after commits, one line each.
#pragma once

#include <memory>
#include <vector>

#include "conversations/conversations.h"
#include "followers/follower.h"
#include "interpreter/interpreter.h"

namespace sk::followers {

// One thread. The constructor's arguments outlive it. The purge of a workspace deletes its cursors from then
// on.
class Followers {
 public:
  Followers(workspace::Keep& keep, conversations::Conversations& conversations,
            interpreter::Interpreter& interpreter, Metrics& metrics);

  void start();
  // Ends all of them, each after its current batch. Idempotent.
  void stop();

 private:
  std::vector<std::unique_ptr<Follower>> all_;
};

}  // namespace sk::followers
