// Purges workspaces: ends their sessions, then deletes everything that is kept of them, on a thread for long
// work.
#pragma once

#include <unordered_set>

#include "base/background.h"
#include "base/later.h"
#include "base/mutex.h"
#include "interpreter/interpreter.h"
#include "workspace/workspace_purges.h"

namespace sk::interpreter {

// Any thread. All parameters outlive it; `background` stops before it is destroyed.
class WorkspacePurger {
 public:
  // From now on, the purge of a workspace deletes its sessions and executions.
  WorkspacePurger(workspace::Keep& keep, Interpreter& interpreter, Background& background);

  // Purges the workspace that `begin` returns, which calls Workspaces::begin_purge(). Throws what it throws.
  // The result comes when the workspace is gone. After an error, finish_begun() tries again.
  using Begin = std::function<workspace::Workspace()>;
  Later<workspace::PurgeResult> purge(const Begin& begin);
  // Finishes purges that a stop, a kill or an error has interrupted, and looks for further ones every minute.
  // Call once.
  void finish_begun();

 private:
  // For a workspace in running_.
  Later<workspace::PurgeResult> finish(const workspace::BegunPurge& begun);
  // Returns begun purges that nobody finishes yet, and adds them to running_.
  std::vector<workspace::BegunPurge> take_begun();

  workspace::Keep& keep_;
  Interpreter& interpreter_;
  Background& background_;
  Mutex mutex_;  // held while a purge begins, so that finish_begun() does not take it
  std::unordered_set<Id> running_ SK_GUARDED_BY(mutex_);
};

}  // namespace sk::interpreter
