// The interpreter as dialects see it: sessions that run code and keep the files it writes before they answer.
// SandboxedInterpreter runs code. RefusingInterpreter replaces it where code cannot run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/later.h"
#include "interpreter/load.h"
#include "interpreter/records.h"
#include "interpreter/run/execution_feed.h"
#include "interpreter/run/history_export.h"
#include "interpreter/run/thumbnails.h"
#include "interpreter/types.h"
#include "workspace/keep.h"

namespace sk::interpreter {

// A running or finished execution, as execute() returns it.
struct RunningExecution {
  Id id;
  int64_t number = 0;
  std::shared_ptr<ExecutionFeed> feed;
  Execution asked;      // the execution when it was queued
  bool joined = false;  // an earlier request already asked for it
};

// Any thread. Calls take the authority in the session's workspace, from SessionDirectory::authority_over() or
// Workspaces. A session that is not its actor's own, or not in its workspace and scope, is Error(not_found).
// Where code cannot run, a call is Error(unavailable) with the reason, unless its comment says otherwise.
//
// No call waits for a session. Calls that need a session to themselves (remove, sleep, execute, retry_unkept)
// return a Later (base/later.h): their request waits in the session's queue, in order, while another one
// holds the session. A full queue is Error(too_many_requests). Later::give_up() removes a request that has
// not begun. They throw errors that are known at once; later ones come with the result, on a pool's thread.
class Interpreter {
 public:
  virtual ~Interpreter() = default;

  // Whether code can run here, for answers that announce it, such as lists of tools. Other calls need not
  // check it first.
  virtual bool runs_code() const = 0;
  // Whether control groups limit memory and processes of code; otherwise limits are approximate.
  virtual bool has_exact_limits() const { return true; }
  // Throws the Error(unavailable) of a call that needs code, where code cannot run. For requests that must be
  // refused before their first byte is read.
  virtual void require_code() const = 0;

  // Start and stop. These do nothing where code cannot run.
  //
  // Examines sessions whose server died and keeps their closed files. Call once, before serving.
  virtual void recover() = 0;
  // Queues executions that a stopped server had accepted and not begun. Call once, after recover(), when code
  // can run.
  virtual void resume_accepted() = 0;
  // The stop has three steps, so that executions can still be answered. All are idempotent. Refuses further
  // executions. Running executions continue, and so do those with a waiting client. Accepted ones that have
  // not begun are left for the next start.
  virtual void close() = 0;
  // Waits for these executions, at most this long.
  virtual void await_executions(std::chrono::milliseconds limit) = 0;
  // Ends running executions, keeps their files, answers them, and puts every session to sleep.
  virtual void end_sessions() = 0;
  // Ends the rest. No other call is allowed afterwards.
  virtual void stop() = 0;

  // Creates a session in the authority's workspace. Error(forbidden) if the authority may not write there, or
  // does not cover the folder.
  virtual SessionInfo create(const workspace::Authority& authority, const NewSession& wanted) = 0;
  // Sessions are found and listed by their owner, in all workspaces of its key: these questions come before
  // an authority. nullopt for a session that does not exist or is not the actor's. Also works where code
  // cannot run.
  virtual std::optional<SessionInfo> find(const workspace::Actor& actor, const Id& session) = 0;
  // Like find(), with Error(not_found) instead of nullopt.
  SessionInfo get(const workspace::Actor& actor, const Id& session);
  // Leaves out deleted sessions. Also works where code cannot run.
  virtual std::vector<SessionInfo> list(const workspace::Actor& actor, const SessionQuery& query) = 0;
  // Ends the process and deletes the session; the files stay in the workspace. Error(conflict), which names
  // it, when the session has content that could not be kept, unless `unkept` discards it.
  enum class OnUnkept { refuse, discard };
  virtual Later<Done> remove(const workspace::Authority& authority, const Id& session,
                             OnUnkept unkept = OnUnkept::refuse) = 0;
  // Ends and deletes all sessions of the authority's workspace, of any owner, with content that could not be
  // kept: for the purge of the workspace. Also works where code cannot run. Error(forbidden) unless the
  // authority has the owner's right. Sessions that are created meanwhile stay.
  virtual Later<Done> remove_all(const workspace::Authority& authority) = 0;
  // Tries again to keep refused content, and makes heads of versions that were kept aside, where no other
  // client wrote the file since. Leaves recovered files alone. Error(unavailable) when the copy could not be
  // compared.
  struct Retried {
    size_t settled = 0;    // of the items that SessionDirectory::unkept listed before
    size_t remaining = 0;  // refused or aside
  };
  virtual Later<Retried> retry_unkept(const workspace::Authority& authority, const Id& session) = 0;
  // Puts the session to sleep now: its memory is lost, its files stay. Also works where code cannot run.
  virtual Later<Done> sleep(const workspace::Authority& authority, const Id& session) = 0;

  // Queues an execution behind the session's others, and wakes a sleeping session. Error(too_many_requests)
  // over a limit. A repeated request gets the existing execution, running or finished (see repeats.h).
  // Error(conflict) when its key was used for other code. The result comes when the execution is queued.
  virtual Later<RunningExecution> execute(const workspace::Authority& authority, const Id& session,
                                          NewExecution wanted) = 0;
  // Notes that the client of an execution disconnected without its answer. If it asks again, it gets that
  // execution.
  virtual void note_unanswered(const Id& execution) = 0;
  // Raises KeyboardInterrupt in a running execution, whose session keeps its state; removes a waiting one
  // from the queue. False when it is already done.
  virtual bool cancel(const workspace::Authority& authority, const Id& session, const Id& execution) = 0;
  // Finds a running or recently finished execution. nullopt where code cannot run.
  virtual std::optional<RunningExecution> find_running(const workspace::Authority& authority,
                                                       const Id& session, const Id& execution) = 0;
  // Delivers the results of the tool calls that a running execution waits for, as a list in their order.
  // `event` is the number of the `tools` event in its feed. False unless it waits for the calls of that
  // event.
  virtual bool answer_tools(const workspace::Authority& authority, const Id& session, const Id& execution,
                            int64_t event, Json results) = 0;
  // Finds an execution on record, finished or not. Also works where code cannot run.
  virtual std::optional<Execution> find_execution(const workspace::Authority& authority, const Id& session,
                                                  const Id& execution) = 0;
  // Forgets recently finished executions of a workspace, which are then on record only.
  virtual void forget_finished(const Id& /*workspace*/, TimeUs /*before_us*/) {}
  // The rest is on record, and is also read where code cannot run. The whole history, oldest first, in a file
  // without a name, since it may be long.
  virtual ExportedHistory export_history(const workspace::Authority& authority, const Id& session,
                                         ExportFormat format) = 0;
  // Newest first, without their files; `before` is 0 for the first page. A page may end early, so that it has
  // few bytes; its cursor is the number of its last execution.
  virtual workspace::Page<Execution> executions(const workspace::Authority& authority, const Id& session,
                                                int64_t before, size_t limit) = 0;
  virtual std::vector<KeptFile> kept_files(const workspace::Authority& authority, const Id& session,
                                           const Id& execution, int64_t after, size_t limit) = 0;

  // Whether a thumbnail of this content can be made here. False where code cannot run.
  virtual bool can_have_thumbnail(const workspace::Version& version) const = 0;
  // Calls `on_made` at once, or later from another thread; with nullopt where none can be made.
  // Error(too_many_requests) when too many wait.
  virtual void make_thumbnail(const workspace::Version& version, Thumbnails::OnMade on_made) = 0;

  // What goes on now, of all principals; for operators. Reads some files of each awake session's sandbox and
  // waits for no session. Empty where code cannot run.
  virtual InterpreterLoad load() const = 0;
  // The number of a principal's own sessions that are awake or waking. 0 where code cannot run.
  virtual size_t count_awake(const Id& owner) const = 0;
};

}  // namespace sk::interpreter
