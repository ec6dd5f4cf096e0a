// One session that is awake or waking. It connects independent parts: the runner (kernel and running cell),
// the outputs (what the cell prints), the queue (waiting executions), the copy keeper (working copy), and
// client tools (calls that the client must answer). The registry decides when a live session may be created
// and ended (registry.h).
//
// Threads: everything runs on the session's strand, one job at a time, so plain code may wait for disk and
// database. The ticking thread (the kernel loop's) only reads whether something is due, and posts.
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
#include "interpreter/run/carried_files.h"
#include "interpreter/run/client_tools.h"
#include "interpreter/run/execution_queue.h"
#include "interpreter/run/runner.h"
#include "interpreter/run/session_outputs.h"
#include "interpreter/run/session_rights.h"
#include "interpreter/run/strand.h"
#include "sandbox/disk_guard.h"

namespace sk::interpreter {

class LiveSession;

// Services that all live sessions use. The Interpreter owns them; they outlive the sessions. The functions
// may be called on any thread.
struct SessionServices {
  workspace::Keep& keep;
  const InterpreterOptions& options;
  Records& records;
  const CopyContext& copies;
  sandbox::DiskGuard& disk_guard;
  FairPool& pool;  // by principal
  // Starts a kernel that reports to the events.
  std::function<std::unique_ptr<KernelProcess>(const sandbox::SessionSpec&, sandbox::KernelEvents&)>
      start_kernel;
  // watch_fd calls LiveSession::poll when the descriptor is readable, and again after each rearm_fd. Call
  // forget_fd before closing the descriptor.
  std::function<void(int fd, std::weak_ptr<LiveSession>)> watch_fd;
  std::function<void(int fd)> rearm_fd;
  std::function<void(int fd)> forget_fd;
  // Write later: an execution's record; then the fact that an answer reported a session's recovered files.
  std::function<void(const SessionInfo& session, const Execution&)> save_later;
  std::function<void(const SessionInfo& session)> told_later;
  // The server is about to stop: accepted work that has not begun is left for its next start.
  std::atomic<bool> closing{false};
};

class LiveSession : public std::enable_shared_from_this<LiveSession> {
 public:
  static std::shared_ptr<LiveSession> make(SessionServices& services, SessionInfo info);
  LiveSession(SessionServices& services, SessionInfo info);  // use make()
  ~LiveSession();

  // Any thread; the work itself happens on the strand. Call reserve() first, under the session's lease. The
  // session then counts as busy until the execution is done. An execution whose session ends is finished as
  // interrupted.
  void reserve() { ++queued_; }
  void unreserve() { --queued_; }
  // A sentence for the answer of the first execution; empty: none. Call before that is enqueued.
  void note_at_wake(std::string sentence) { wake_note_ = std::move(sentence); }
  // Call before the first execution of an authority: from then on, its executions end as `revoked` when its
  // key or its right to write ends, and the session goes to sleep, because processes of theirs may still run.
  // Throws if the right has ended already.
  void admit(const workspace::Authority& authority);
  // `execution.key` was admitted.
  void enqueue(QueuedExecution execution);
  void cancel(const Id& execution);
  // False unless that execution waits for the tools of that event.
  bool answer_tools(const Id& execution, int64_t event, Json results);
  void poll();  // the kernel's descriptor is readable
  // Ends the session permanently: kills its processes, keeps its files, closes the copy. Executions that had
  // not begun are interrupted; when the server stops, accepted ones stay queued in the catalog.
  enum class Why { asked, server_stops };
  void retire(Why why, std::function<void()> then);
  // After SessionServices::closing was set, ends the executions behind accepted ones, which no longer begin.
  void close_queue();
  // Interrupts the running execution like cancel(), because the server stops. No other execution begins.
  void interrupt_for_stop();
  // Tries again to keep refused content. Calls `then` on the strand with the result.
  enum class Tried { done, failed, retired };
  void retry_unkept(std::function<void(Tried)> then);

  // One thread, about ten times a second.
  //
  // Posts due work to the strand: time-outs, captures during long runs and between cells. Ends waits for its
  // executions whose deadline has passed.
  void tick(TimeUs now_us);
  // True once per idle period, from some time before the session expires.
  bool must_warn(TimeUs now_us);

  // Any thread.
  bool awake() const { return awake_; }
  bool busy() const { return queued_ > 0; }
  TimeUs active_us() const { return active_us_; }
  TimeUs awake_since_us() const { return awake_since_us_; }
  int64_t execution_count() const { return count_; }
  // Since when its cell runs; 0 when none runs.
  TimeUs running_since_us() const { return runner_.running_since_us(); }
  // When the time of its running cell is over; 0 when none runs.
  TimeUs ends_by_us() const { return runner_.ends_by_us(); }
  // What its sandbox uses now; zeros without one.
  sandbox::Usage usage() const { return runner_.usage(); }
  size_t queued() const { return queued_; }
  int64_t next_number() { return ++count_; }
  const SessionInfo& info() const { return info_; }
  std::optional<RunningExecution> find(const Id& execution) const { return recent_.find(execution); }
  // Running or waiting executions.
  std::vector<RunningExecution> unfinished() const { return recent_.unfinished(); }
  void forget_finished(TimeUs before_us) { recent_.forget_finished(before_us); }

 private:
  // The running execution.
  struct Current : QueuedExecution {
    Settled settled = {};        // kept so far
    bool is_recorded = false;    // durably recorded as done, with the last files that it kept
    bool has_recovered = false;  // its answer is the first to report recovered files
    TimeUs run_started_us = 0;
    TimeUs record_us = 0;   // when its record is first written; 0: written
    TimeUs capture_us = 0;  // time of the next capture during the run; 0: none
    int captures = 0;
  };

  // Runs `job` on the strand, and then updates the due time that tick() reads.
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

  void end_queued(QueuedExecution waiting, Outcome outcome, std::string message);
  void end_revoked(const Id& key, const std::string& why);
  void end_waiting(std::deque<QueuedExecution> waiting, Why why);
  void stop_before_accepted();

  void answer(const sandbox::KernelRequest& request);
  void drop_tools();

  TimeUs now_us() const { return services_.keep.context().clock.now_us(); }
  TimeUs next_due_us() const;
  void do_what_is_due(TimeUs now_us);
  void capture_during_run(TimeUs now_us);
  void capture_between_cells();
  void add_kept(Settled now);
  void add_settled(Settled now);
  Settled capture_now(CopyKeeper::Extent extent);
  CaptureAs capture_as();
  void save_manifest();

  SessionServices& services_;
  const SessionInfo info_;
  Strand strand_;

  // Any thread.
  std::atomic<bool> awake_{false};
  std::atomic<size_t> queued_{0};  // executions that wait, run or are reserved
  std::atomic<TimeUs> active_us_;
  std::atomic<TimeUs> awake_since_us_{0};
  std::atomic<int64_t> count_;
  std::atomic<TimeUs> due_us_{0};  // when tick() must post; 0: never. Set by the strand
  RecentExecutions recent_;        // at most two full outputs, each as events and as an answer
  ClientTools tools_;
  SessionRights rights_;

  // Only for the thread that calls tick().
  TimeUs next_expiry_us_ = 0;
  TimeUs warned_for_us_ = 0;  // active_us() of the idle period that was warned about

  // Strand only.
  CopyKeeper keeper_;
  SessionOutputs outputs_;
  Runner runner_;
  std::unique_ptr<sandbox::DiskGuard::Ticket> disk_ticket_;  // its callback uses the runner's kernel
  ExecutionQueue queue_;
  std::optional<Current> current_;
  KeptBetweenCells between_;
  TimeUs save_manifest_us_ = 0;
  TimeUs quiet_look_us_ = 0;  // time of the next capture between cells; 0: asleep
  // The narrowest scope of an execution since the session woke. Code of earlier executions may still run in
  // the process, so a later one does not widen what requests of code reach.
  std::string path_scope_;
  std::string wake_note_;
  bool has_run_;  // whether any execution ever ran
  bool retired_ = false;
  // A key that ran code here was revoked while an execution of another key runs. Its processes end after
  // that.
  bool sleeps_after_cell_ = false;
  bool stopping_ = false;  // the server stops
};

}  // namespace sk::interpreter
