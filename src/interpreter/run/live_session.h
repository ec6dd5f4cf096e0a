// One session that is awake, or waking. It joins the parts, each of which stands alone: the runner has the
// kernel and the cell that runs, the outputs what that prints, the queue what waits, the copy keeper the
// working copy, client tools the question that the client is to answer. The registry says when a live session
// may be made and ended (registry.h).
//
// Threads: everything happens on the session's strand, one thing at a time, so plain code may wait for disk
// and database. The thread that ticks (the kernel loop's) only reads when something is due, and posts.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interpreter/copy/copy_keeper.h"
#include "interpreter/interpreter.h"
#include "interpreter/options.h"
#include "interpreter/run/client_tools.h"
#include "interpreter/run/execution_queue.h"
#include "interpreter/run/runner.h"
#include "interpreter/run/session_outputs.h"
#include "interpreter/run/strand.h"
#include "sandbox/disk_guard.h"

namespace sk::interpreter {

class LiveSession;

// What all live sessions use; owned by the Interpreter, outlives them. The functions: any thread.
struct SessionServices {
  workspace::Keep& keep;
  const InterpreterOptions& options;
  Records& records;
  const CopyContext& copies;
  sandbox::DiskGuard& disk_guard;
  WorkerPool& pool;
  // Starts a kernel that tells the events.
  std::function<std::unique_ptr<KernelProcess>(const sandbox::SessionSpec&, sandbox::KernelEvents&)>
      start_kernel;
  // Calls LiveSession::poll when the descriptor is readable, and once more after each rearm; forget before it
  // is closed.
  std::function<void(int fd, std::weak_ptr<LiveSession>)> watch_fd;
  std::function<void(int fd)> rearm_fd;
  std::function<void(int fd)> forget_fd;
  // Writes an execution's record soon; that an answer named a session's recovered files, after it.
  std::function<void(const Execution&)> save_later;
  std::function<void(const Id& session)> told_later;
  // The server is about to stop: accepted work that has not begun is left for its next start.
  std::atomic<bool> closing{false};
};

class LiveSession : public std::enable_shared_from_this<LiveSession> {
 public:
  static std::shared_ptr<LiveSession> make(SessionServices& services, SessionInfo info);
  LiveSession(SessionServices& services, SessionInfo info);  // through make()
  ~LiveSession();

  // Any thread; the work itself happens on the strand. reserve() comes first, under the session's lease: the
  // session counts as busy from then on, until the execution is done. One that meets the end of its session
  // is finished as interrupted.
  void reserve() { ++queued_; }
  void unreserve() { --queued_; }
  void enqueue(QueuedExecution execution);
  void cancel(const Id& execution);
  // False unless that execution waits for the tools of that event.
  bool answer_tools(const Id& execution, int64_t event, Json results);
  void poll();  // its kernel's descriptor is readable
  // Ends it for good: kills what runs, keeps its files, closes the copy. Executions that had not begun are
  // interrupted; when the server stops, accepted ones stay queued in the catalog.
  enum class Why { asked, server_stops };
  void retire(Why why, std::function<void()> then);
  // After SessionServices::closing was set: executions behind accepted ones, which are not begun any more,
  // end.
  void close_queue();
  // Interrupts what runs, as cancel() does, because the server stops; nothing else begins.
  void interrupt_for_stop();
  // Tries once more to keep what was refused. Calls `then` on the strand, with how that went.
  enum class Tried { done, failed, retired };
  void retry_unkept(std::function<void(Tried)> then);

  // One thread, some ten times a second.
  //
  // Has the strand do what is due: time-outs, captures during long runs and between cells. Ends the waits for
  // its executions whose deadline has passed.
  void tick(TimeUs now_us);
  // True once per time of idleness, from a while before it expires on.
  bool must_warn(TimeUs now_us);

  // Any thread.
  bool awake() const { return awake_; }
  bool busy() const { return queued_ > 0; }
  TimeUs active_us() const { return active_us_; }
  TimeUs awake_since_us() const { return awake_since_us_; }
  int64_t execution_count() const { return count_; }
  size_t queued() const { return queued_; }
  int64_t next_number() { return ++count_; }
  const SessionInfo& info() const { return info_; }
  std::optional<RunningExecution> find(const Id& execution) const { return recent_.find(execution); }
  // Running or waiting.
  std::vector<RunningExecution> unfinished() const { return recent_.unfinished(); }

 private:
  // The execution that runs.
  struct Current : QueuedExecution {
    Settled settled = {};        // kept so far
    bool is_recorded = false;    // as done, durably, with the last files that it kept
    bool has_recovered = false;  // its answer names files that were recovered for the first time
    TimeUs run_started_us = 0;
    TimeUs record_us = 0;   // when its record is written for the first time; 0: it is
    TimeUs capture_us = 0;  // the next capture while it runs; 0: none
    int captures = 0;
  };

  // Runs `job` on the strand; afterwards tick() knows what is due next.
  void post(std::function<void()> job);
  std::function<void()> strand_job(std::function<void()> job);

  // All below: strand only.
  void start_next();
  void start(QueuedExecution next);
  void wake();
  void close_kernel();
  void go_to_sleep();
  void handle_kernel_events();
  void finish(CellOutcome end);
  std::optional<std::string> keep_files_of_cell();
  void place_outputs();
  void keep_waiting_images();
  void fail(const Error& error);
  void complete(Outcome outcome, std::string message);
  void save(const QueuedExecution& one);

  void interrupt_queued(QueuedExecution waiting, std::string message);
  void end_waiting(std::deque<QueuedExecution> waiting, Why why);
  void stop_before_accepted();

  void answer(const sandbox::KernelRequest& request);
  void drop_tools();

  TimeUs now_us() const { return services_.keep.ground().clock.now_us(); }
  TimeUs next_due_us() const;
  void do_what_is_due(TimeUs now_us);
  void capture_during_run(TimeUs now_us);
  void capture_between_cells();
  void name_recovered();
  void add_kept(Settled now);
  Settled capture_now(CopyKeeper::Extent extent);
  CaptureAs capture_as();
  void save_manifest();

  SessionServices& services_;
  const SessionInfo info_;
  Strand strand_;

  // Any thread.
  std::atomic<bool> awake_{false};
  std::atomic<size_t> queued_{0};  // executions that wait, run or were reserved
  std::atomic<TimeUs> active_us_;
  std::atomic<TimeUs> awake_since_us_{0};
  std::atomic<int64_t> count_;
  std::atomic<TimeUs> due_us_{0};  // when tick() must post; 0: nothing is to be done. Set by the strand
  RecentExecutions recent_;
  ClientTools tools_;

  // The thread's that calls tick().
  TimeUs next_expiry_us_ = 0;
  TimeUs warned_for_us_ = 0;  // the active_us() of the idleness that was warned of

  // Strand only.
  CopyKeeper keeper_;
  SessionOutputs outputs_;
  Runner runner_;
  std::unique_ptr<sandbox::DiskGuard::Ticket> disk_ticket_;  // its callback uses the runner's kernel
  ExecutionQueue queue_;
  std::optional<Current> current_;
  size_t unnamed_between_ = 0;  // changes that between_ has no room for
  Settled between_;             // kept between cells; the next answer names it. Bounded like the output
  TimeUs save_manifest_us_ = 0;
  TimeUs quiet_look_us_ = 0;  // the next look for what processes wrote between cells; 0: asleep
  bool has_run_;              // any execution, ever
  bool retired_ = false;
  bool stopping_ = false;  // the server stops
};

}  // namespace sk::interpreter
