// The interpreter: sessions that run code in sandboxes, and keep what it writes before they answer. What a
// dialect needs, it takes from here.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/metrics.h"
#include "interpreter/execution_feed.h"
#include "interpreter/history_export.h"
#include "interpreter/records.h"
#include "interpreter/thumbnails.h"
#include "interpreter/types.h"
#include "sandbox/host.h"
#include "workspace/keep.h"

namespace sk::interpreter {

struct InterpreterOptions {
  std::string directory;  // below it lie the working copies
  uint64_t memory_default_bytes = 1ull << 30;
  uint64_t memory_max_bytes = 16ull << 30;
  int64_t timeout_default_s = 120;
  int64_t timeout_max_s = 3600;
  int64_t idle_default_s = 20 * 60;
  size_t output_bytes_max = 1 << 20;        // in an answer; the whole is kept as a file
  uint64_t spill_bytes_max = 256ull << 20;  // of that file
  uint64_t file_bytes_max = 64ull << 30;
  uint64_t disk_bytes_max = 10ull << 30;   // that one session's files may take
  uint64_t files_max = 500'000;            // that one session may have
  uint64_t disk_reserve_bytes = 0;         // of the disk; no session may touch it
  int64_t copy_keep_s = 7 * 86400;         // of a session that sleeps
  size_t sessions_max = 200;               // awake at once on this server
  size_t sessions_per_principal_max = 50;  // awake at once
  size_t queue_max = 100;                  // executions waiting in one session
  size_t threads = 8;
  size_t watched_folders_max = 8'192;  // of one session
  std::string boot_id;                 // of this boot of the machine; empty: unknown
};

// A running or finished execution, as execute() hands it out.
struct RunningExecution {
  Id id;
  int64_t number = 0;
  std::shared_ptr<ExecutionFeed> feed;
  Execution asked;      // as it was queued
  bool joined = false;  // an earlier request asked for it already
};

// Any thread. A session that is not the caller's is Error(not_found).
class Interpreter {
 public:
  Interpreter(workspace::Keep& keep, sandbox::SandboxHost& host, InterpreterOptions options,
              Metrics& metrics);
  ~Interpreter();

  // Looks through sessions whose server died, and keeps what they had closed. Call once, before serving.
  void recover();
  // Queues executions that a stopped server had accepted and not begun. Call once, after recover(), when code
  // can run.
  void resume_accepted();
  // The end comes in three steps, so that the answers of executions can still be given. All are idempotent.
  // Refuses further executions. Those that run go on, and those that somebody waits for; accepted ones that
  // have not begun are left for the next start.
  void close();
  // Waits for them, for so long at most.
  void await_executions(std::chrono::milliseconds limit);
  // Ends running executions, keeps their files, answers, puts every session to sleep.
  void end_sessions();
  // Ends the rest. Nobody may call anything else any more.
  void stop();

  SessionInfo create(const workspace::Actor& actor, const NewSession& wanted);
  SessionInfo get(const workspace::Actor& actor, const Id& session);
  // nullopt where get() throws.
  std::optional<SessionInfo> find(const workspace::Actor& actor, const Id& session);
  std::vector<SessionInfo> list(const workspace::Actor& actor, const SessionQuery& query);
  std::vector<SessionInfo> list(const workspace::Actor& actor, const Id& before, size_t limit);
  // Ends the process and forgets the session; the files stay in the workspace. Error(conflict), which names
  // them, when the session has content that could not be kept, unless that may go too.
  enum class OnUnkept { refuse, discard };
  void remove(const workspace::Actor& actor, const Id& session, OnUnkept unkept = OnUnkept::refuse);
  // Tries again to keep what was refused, and makes heads of versions that were kept aside, where nobody
  // wrote the file since; what was recovered is left alone. Calls `then` when it is done, on a thread of its
  // own: with an error when the copy could not be compared. Throws what can be said at once.
  struct Retried {
    size_t settled = 0;    // of those that SessionBook::unkept listed before
    size_t remaining = 0;  // refused or aside
    std::optional<Error> error = {};
  };
  void retry_unkept(const workspace::Actor& actor, const Id& session, std::function<void(Retried)> then);
  // To sleep now: what is in memory goes, the files stay.
  void sleep(const workspace::Actor& actor, const Id& session);

  // Queued behind the session's others; the session is woken when it is asleep. Error(too_many_requests) over
  // a limit. A request that was sent before gets the execution that there is, running or finished (see
  // repeats.h); Error(conflict) when its key was used for other code.
  RunningExecution execute(const workspace::Actor& actor, const Id& session, NewExecution wanted);
  // The client that waited for an execution left without its answer: when it asks again, it gets that one.
  void note_unanswered(const Id& execution);
  // KeyboardInterrupt for a running one (state stays), off the queue for a waiting one; false when it is done
  // already.
  bool cancel(const workspace::Actor& actor, const Id& session, const Id& execution);
  // Running, or not long finished.
  std::optional<RunningExecution> find_running(const workspace::Actor& actor, const Id& session,
                                               const Id& execution);
  // The results of the tool calls that a running execution waits for (its feed's last `tools` event), as a
  // list in their order. False when it waits for none.
  bool answer_tools(const workspace::Actor& actor, const Id& session, const Id& execution, Json results);
  std::optional<Execution> find_execution(const workspace::Actor& actor, const Id& session,
                                          const Id& execution);
  // The whole history, oldest first, in a file without a name, since it may be long.
  ExportedHistory export_history(const workspace::Actor& actor, const Id& session, ExportFormat format);
  std::vector<Execution> executions(const workspace::Actor& actor, const Id& session, int64_t before,
                                    size_t limit);
  std::vector<KeptFile> kept_files(const workspace::Actor& actor, const Id& session, const Id& execution,
                                   int64_t after, size_t limit);

  Thumbnails& thumbnails();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace sk::interpreter
