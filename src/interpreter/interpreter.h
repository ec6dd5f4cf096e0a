// The interpreter as dialects see it: sessions that run code and keep what it writes before they answer.
// SandboxedInterpreter runs code; RefusingInterpreter stands in for it where none can run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "interpreter/records.h"
#include "interpreter/run/execution_feed.h"
#include "interpreter/run/history_export.h"
#include "interpreter/run/thumbnails.h"
#include "interpreter/types.h"
#include "workspace/keep.h"

namespace sk::interpreter {

// A running or finished execution, as execute() hands it out.
struct RunningExecution {
  Id id;
  int64_t number = 0;
  std::shared_ptr<ExecutionFeed> feed;
  Execution asked;      // as it was queued
  bool joined = false;  // an earlier request asked for it already
};

// Any thread. Calls take the authority in the session's workspace, from SessionDirectory::authority_over() or
// Workspaces. A session that is not its actor's own, or not in its workspace and scope, is Error(not_found).
// Where no code runs, a call is Error(unavailable) with the reason, unless it says otherwise.
class Interpreter {
 public:
  virtual ~Interpreter() = default;

  // Whether code can run here. For answers that offer it beforehand, such as lists of tools; a call need not
  // be preceded by this question.
  virtual bool runs_code() const = 0;
  // Throws the Error(unavailable) of a call that needs running code, where no code runs. For requests that
  // must be refused before their first byte is read.
  virtual void require_code() const = 0;

  // Beginning and end. Nothing to do where no code runs.
  //
  // Looks through sessions whose server died, and keeps what they had closed. Call once, before serving.
  virtual void recover() = 0;
  // Queues executions that a stopped server had accepted and not begun. Call once, after recover(), when code
  // can run.
  virtual void resume_accepted() = 0;
  // The end comes in three steps, so that the answers of executions can still be given. All are idempotent.
  // Refuses further executions. Those that run go on, and those that somebody waits for; accepted ones that
  // have not begun are left for the next start.
  virtual void close() = 0;
  // Waits for them, for so long at most.
  virtual void await_executions(std::chrono::milliseconds limit) = 0;
  // Ends running executions, keeps their files, answers, puts every session to sleep.
  virtual void end_sessions() = 0;
  // Ends the rest. Nobody may call anything else any more.
  virtual void stop() = 0;

  // Creates a session in the authority's workspace. Error(forbidden) if the authority may not write there, or
  // does not cover the folder.
  virtual SessionInfo create(const workspace::Authority& authority, const NewSession& wanted) = 0;
  // Sessions are found and listed by their owner, in all workspaces of its key: these questions come before
  // an authority. nullopt for a session that is not there or not the actor's. Also where no code runs.
  virtual std::optional<SessionInfo> find(const workspace::Actor& actor, const Id& session) = 0;
  // Error(not_found) instead.
  SessionInfo get(const workspace::Actor& actor, const Id& session);
  // Without deleted ones. Also where no code runs.
  virtual std::vector<SessionInfo> list(const workspace::Actor& actor, const SessionQuery& query) = 0;
  // Ends the process and forgets the session; the files stay in the workspace. Error(conflict), which names
  // them, when the session has content that could not be kept, unless that may go too.
  enum class OnUnkept { refuse, discard };
  virtual void remove(const workspace::Authority& authority, const Id& session,
                      OnUnkept unkept = OnUnkept::refuse) = 0;
  // Tries again to keep what was refused, and makes heads of versions that were kept aside, where nobody
  // wrote the file since; what was recovered is left alone. Calls `then` when it is done, on a thread of its
  // own: with an error when the copy could not be compared. Throws what can be said at once.
  struct Retried {
    size_t settled = 0;    // of those that SessionDirectory::unkept listed before
    size_t remaining = 0;  // refused or aside
    std::optional<Error> error = {};
  };
  virtual void retry_unkept(const workspace::Authority& authority, const Id& session,
                            std::function<void(Retried)> then) = 0;
  // To sleep now: what is in memory goes, the files stay.
  virtual void sleep(const workspace::Authority& authority, const Id& session) = 0;

  // Queued behind the session's others; the session is woken when it is asleep. Error(too_many_requests) over
  // a limit. A request that was sent before gets the execution that there is, running or finished (see
  // repeats.h); Error(conflict) when its key was used for other code.
  virtual RunningExecution execute(const workspace::Authority& authority, const Id& session,
                                   NewExecution wanted) = 0;
  // The client that waited for an execution left without its answer: when it asks again, it gets that one.
  virtual void note_unanswered(const Id& execution) = 0;
  // KeyboardInterrupt for a running one (state stays), off the queue for a waiting one; false when it is done
  // already.
  virtual bool cancel(const workspace::Authority& authority, const Id& session, const Id& execution) = 0;
  // Running, or not long finished. Nothing is running where no code runs.
  virtual std::optional<RunningExecution> find_running(const workspace::Authority& authority,
                                                       const Id& session, const Id& execution) = 0;
  // The results of the tool calls that a running execution waits for, as a list in their order. `event` is
  // the number of the `tools` event in its feed. False unless it waits for the calls of that event.
  virtual bool answer_tools(const workspace::Authority& authority, const Id& session, const Id& execution,
                            int64_t event, Json results) = 0;
  // Finished, or on record. Also where no code runs.
  virtual std::optional<Execution> find_execution(const workspace::Authority& authority, const Id& session,
                                                  const Id& execution) = 0;
  // The whole history, oldest first, in a file without a name, since it may be long.
  virtual ExportedHistory export_history(const workspace::Authority& authority, const Id& session,
                                         ExportFormat format) = 0;
  virtual std::vector<Execution> executions(const workspace::Authority& authority, const Id& session,
                                            int64_t before, size_t limit) = 0;
  virtual std::vector<KeptFile> kept_files(const workspace::Authority& authority, const Id& session,
                                           const Id& execution, int64_t after, size_t limit) = 0;

  // Whether a thumbnail of this content can be made here. False where no code runs.
  virtual bool can_have_thumbnail(const workspace::Version& version) const = 0;
  // Calls `on_made` at once or later, from another thread, with nothing where none can be made.
  // Error(too_many_requests) when too many wait.
  virtual void make_thumbnail(const workspace::Version& version, Thumbnails::OnMade on_made) = 0;
};

}  // namespace sk::interpreter
