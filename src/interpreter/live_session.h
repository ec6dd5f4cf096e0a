// One session that is awake, or waking: its sandbox, its working copy, its queue of executions. Everything
// happens on its strand, one thing at a time, so plain code may wait for disk and database. The registry says
// when a live session may be made and ended (registry.h).
#pragma once

#include <deque>
#include <future>
#include <memory>

#include "interpreter/copy_keeper.h"
#include "interpreter/execution_feed.h"
#include "interpreter/interpreter.h"
#include "interpreter/options.h"
#include "interpreter/output_collector.h"
#include "interpreter/strand.h"
#include "sandbox/disk_guard.h"
#include "sandbox/kernel.h"

namespace sk::interpreter {

// What live sessions share; owned by the Interpreter, outlives them.
struct Shared {
  workspace::Keep& keep;
  sandbox::SandboxHost& host;
  const InterpreterOptions& options;
  Records& records;
  const CopyContext& copies;
  sandbox::DiskGuard& disk_guard;
  WorkerPool& pool;
  // Calls LiveSession::poll when the descriptor is readable; forget before it is closed.
  std::function<void(int fd, std::weak_ptr<class LiveSession>)> watch_fd;
  std::function<void(int fd)> rearm_fd;
  std::function<void(int fd)> forget_fd;
  // Writes an execution's record soon; that an answer named a session's recovered files, after it.
  std::function<void(const Execution&)> save_later;
  std::function<void(const Id& session)> told_later;
  // The server is about to stop: accepted work that has not begun is left for its next start.
  std::atomic<bool> closing{false};
};

// From the first interrupt to the end of everything in the sandbox.
constexpr int64_t kInterruptGraceUs = 2 * kSecondUs;

// A session acts by itself, as its owner, when no execution runs; else as the execution's author.
CaptureAs capture_as(const SessionInfo& session);
CaptureAs capture_as(const SessionInfo& session, workspace::Actor author);

struct QueuedExecution {
  Execution execution;
  NewExecution wanted;
  workspace::Actor actor;
  std::shared_ptr<ExecutionFeed> feed;
};

class LiveSession : public std::enable_shared_from_this<LiveSession>, private sandbox::KernelEvents {
 public:
  static std::shared_ptr<LiveSession> make(Shared& shared, SessionInfo info);
  LiveSession(Shared& shared, SessionInfo info);  // through make()
  ~LiveSession() override;

  // Any thread; the work itself happens on the strand. reserve() comes first, under the session's lease: the
  // session counts as busy from then on, until the execution is done. One that meets the end of its session
  // is finished as interrupted.
  void reserve() { ++queued_; }
  void unreserve() { --queued_; }
  void enqueue(QueuedExecution execution);
  void cancel(const Id& execution);
  // False unless that execution waits for the tools of that event.
  bool answer_tools(const Id& execution, int64_t event, Json results);
  void poll();               // its kernel's descriptor is readable
  void tick(TimeUs now_us);  // time-outs, captures during long runs, idle expiry
  // Ends it for good: kills what runs, keeps its files, closes the copy. Executions that had not begun are
  // interrupted; when the server stops, accepted ones stay queued in the catalog.
  enum class Why { asked, server_stops };
  void retire(Why why, std::function<void()> then);
  // After Shared::closing was set: executions behind accepted ones, which are not begun any more, end.
  void close_queue();
  // Interrupts what runs, as cancel() does, because the server stops; nothing else begins.
  void interrupt_for_stop();
  // Running or waiting.
  std::vector<RunningExecution> unfinished();
  // Ends the waits for its executions whose deadline has passed. Thread: the one that calls tick().
  void expire_waits(TimeUs now_us);
  // Tries once more to keep what was refused. Calls `then` on the strand, with how that went.
  enum class Tried { done, failed, retired };
  void retry_unkept(std::function<void(Tried)> then);

  // Any thread.
  bool awake() const { return awake_; }
  bool busy() const { return queued_ > 0; }
  TimeUs active_us() const { return active_us_; }
  TimeUs awake_since_us() const { return awake_since_us_; }
  int64_t execution_count() const { return count_; }
  size_t queued() const { return queued_; }
  int64_t next_number() { return ++count_; }
  const SessionInfo& info() const { return info_; }
  // True once per time of idleness, from a while before it expires on.
  bool must_warn(TimeUs now_us);
  std::optional<RunningExecution> find(const Id& execution);

 private:
  void on_output(sandbox::Stream stream, std::string_view bytes) override;
  void on_display(sandbox::Display display) override;
  void on_clear_output() override;
  void on_result(sandbox::CellResult result) override;
  void on_error(sandbox::CellError error) override;
  void on_done(sandbox::CellDone done) override;
  void on_request(sandbox::KernelRequest request) override;
  void on_ended(const sandbox::Outcome& outcome) override;

  void start_next();
  void start(QueuedExecution& next);
  void wake();
  void go_to_sleep();
  void run_kernel_events();
  void finish(Outcome outcome, std::string message);
  void fail(const Error& error);
  void save(const QueuedExecution& one);
  void interrupt_queued(QueuedExecution waiting, std::string message);
  void end_queue(Why why);
  std::string stop_message() const;
  void stop_before_accepted();
  void name_recovered();
  void give_pending_output();
  void bring_outside_changes();
  void keep_outputs();
  std::string output_folder();
  std::string free_output_name(const std::string& name);
  Settled capture_now(CopyKeeper::Extent extent);
  void capture_between_cells();
  CopyKeeper::OpenFiles open_files() const;
  CaptureAs capture_as();
  void answer(const sandbox::KernelRequest& request);
  Json answer_request(const std::string& method, const Json& params);
  void ask_for_tools(const sandbox::KernelRequest& request);
  void drop_tools();
  void close_kernel();
  void end_for(Outcome outcome, std::string why);
  bool has_new_refused_processes();
  void look_at_processes();
  void save_manifest();

  Shared& shared_;
  const SessionInfo info_;
  Strand strand_;

  // Any thread.
  std::atomic<bool> awake_{false};
  std::atomic<size_t> queued_{0};
  std::atomic<TimeUs> active_us_;
  std::atomic<TimeUs> awake_since_us_{0};
  std::atomic<int64_t> count_;
  std::atomic<bool> warned_{false};
  std::atomic<TimeUs> deadline_us_{0}, kill_us_{0}, next_capture_us_{0}, next_look_us_{0}, record_us_{0},
      save_manifest_us_{0}, next_quiet_look_us_{0};
  std::mutex recent_mutex_;
  std::deque<RunningExecution> recent_;  // guarded by recent_mutex_
  TimeUs next_expiry_us_ = 0;            // the thread's that calls tick()
  std::mutex tools_mutex_;
  Id waits_for_tools_;          // the execution that does; guarded by tools_mutex_
  int64_t tools_event_ = 0;     // of its feed, that asked for them; guarded by tools_mutex_
  uint64_t tools_request_ = 0;  // of the kernel, that answer_tools() answers; guarded by tools_mutex_

  // Strand only.
  CopyKeeper keeper_;
  bool retired_ = false;
  bool stopping_ = false;       // interrupt_for_stop() was called
  bool has_recovered_ = false;  // files that the answer of the current execution names for the first time
  std::unique_ptr<sandbox::Kernel> kernel_;
  std::unique_ptr<sandbox::DiskGuard::Ticket> disk_ticket_;  // its callback uses the kernel's session
  struct EarlyEnd {
    Outcome outcome;
    std::string why;
  };
  std::optional<EarlyEnd> early_end_;  // set by end_for()
  uint64_t processes_refused_ = 0;     // that earlier cells are to blame for
  int crowded_looks_ = 0;              // in a row, at which no process could be added
  std::deque<QueuedExecution> queue_;
  std::optional<QueuedExecution> current_;
  std::unique_ptr<OutputCollector> outputs_;
  // Printed between cells; the next answer begins with it. Bounded by the limit on output.
  std::vector<std::pair<sandbox::Stream, std::string>> pending_output_;
  size_t pending_bytes_ = 0;
  Settled settled_;
  Settled between_;  // kept between cells; the next answer names it. Bounded like the output
  std::vector<sandbox::KernelRequest> requests_;
  std::optional<sandbox::CellDone> done_;
  std::optional<sandbox::Outcome> ended_;
  bool cell_failed_ = false;
  bool has_run_ = false;
  bool was_killed_ = false;  // the kernel; it did not end by itself
  enum class Stop { none, cancelled, timeout } stop_ = Stop::none;
  TimeUs run_started_us_ = 0;
  int captures_ = 0;
  int interrupts_ = 1;  // of the cell that is to end
};

}  // namespace sk::interpreter
