// Tries again to keep content that sessions could not keep: refused content, and versions that were kept
// aside.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "base/error.h"
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

  // Implements Interpreter::retry_unkept(), for a caller that may write to the workspace.
  void retry(const workspace::Authority& authority, const Id& session,
             std::function<void(Interpreter::Retried)> then);
  // Tries again to keep the files of an awake session. Error(conflict), which names them, while some cannot
  // be kept. Running code continues.
  void refuse_if_unkept(const Id& session);
  // Finishes current work. Idempotent.
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
  WorkerPool threads_;  // these wait for leases and strands, so they must not belong to the sessions' pool
};

// Protects a session from deletion while its own folder holds content that exists nowhere else. Names the
// first items in its message, and up to 100 in the fact `not_kept`, one path per line.
Error only_copies_error(const std::vector<NotKept>& items);

}  // namespace sk::interpreter
