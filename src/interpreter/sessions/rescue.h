// Tries again to keep what sessions could not keep: content that was refused, and versions that were kept
// aside.
#pragma once

#include <atomic>
#include <functional>

#include "base/worker_pool.h"
#include "interpreter/interpreter.h"
#include "interpreter/records.h"
#include "interpreter/run/live_session.h"
#include "interpreter/sessions/registry.h"

namespace sk::interpreter {

// Any thread. All parameters outlive it.
class Rescue {
 public:
  Rescue(workspace::Keep& keep, Records& records, Registry& registry, const CopyContext& copies);

  // As Interpreter::retry_unkept(), for a caller that may write to the workspace.
  void retry(const workspace::Authority& authority, const Id& session,
             std::function<void(Interpreter::Retried)> then);
  // Error(conflict), which names them, while an awake session has files that cannot be kept; tries that once
  // more. Code that runs goes on.
  void refuse_if_unkept(const Id& session);
  // Finishes what is under way. Idempotent.
  void stop();

 private:
  Interpreter::Retried retry_now(const workspace::Authority& authority, const Id& session);
  void capture_refused(const Id& session);
  void make_heads(const workspace::Authority& authority, const SessionInfo& session);
  void make_head(const workspace::Authority& authority, const workspace::Version& version);
  void explain(const SessionInfo& session, Unkept item, const Error& error);

  workspace::Keep& keep_;
  Records& records_;
  Registry& registry_;
  const CopyContext& copies_;
  std::atomic<bool> stopping_{false};
  WorkerPool threads_;  // they wait for leases and strands, so they are none of the sessions' pool
};

}  // namespace sk::interpreter
