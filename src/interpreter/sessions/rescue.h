// Tries again to keep content that sessions could not keep: refused content, and versions that were kept
// aside.
#pragma once

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
  Later<Interpreter::Retried> retry(const workspace::Authority& authority, const Id& session);
  // Tries again to keep the files of an awake session. Error(conflict), which names them, while some cannot
  // be kept. Running code continues.
  Later<Done> refuse_if_unkept(const Id& session);
  // Finishes current work. Idempotent.
  void stop();

 private:
  Later<LiveSession::Tried> capture_refused(const Id& session);
  LiveSession::Tried compare(const SessionInfo& session);
  Interpreter::Retried settle(const workspace::Authority& authority, const Id& session,
                              const std::vector<Unkept>& before);
  std::vector<NotKept> only_copies(const Id& session);
  // Goes on with the value on the threads below. Error(unavailable) when the server stops.
  template <class T>
  Later<T> aside(T value);
  void make_heads(const workspace::Authority& authority, const SessionInfo& session);
  void make_head(const workspace::Authority& authority, const workspace::Version& version);
  void explain(const SessionInfo& session, Unkept item, const Error& error);

  workspace::Keep& keep_;
  Records& records_;
  Registry& registry_;
  const CopyContext& copies_;
  WorkerPool threads_;  // compare whole copies, which must not delay sessions or requests
};

// Protects a session from deletion while its own folder holds content that exists nowhere else. Names the
// first items in its message, and up to 100 in the fact `not_kept`, one path per line.
Error only_copies_error(const std::vector<NotKept>& items);

}  // namespace sk::interpreter
