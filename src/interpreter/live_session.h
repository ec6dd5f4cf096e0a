// One session that is awake, or waking: its sandbox, its working copy, its queue of executions. Everything
// happens on its strand, one thing at a time, so plain code may wait for disk and database; nothing else
// waits for it.
#pragma once

#include <deque>
#include <future>
#include <memory>

#include "interpreter/capture.h"
#include "interpreter/execution_feed.h"
#include "interpreter/interpreter.h"
#include "interpreter/output_collector.h"
#include "interpreter/strand.h"
#include "interpreter/sync.h"
#include "interpreter/watcher.h"
#include "sandbox/disk_guard.h"
#include "sandbox/kernel.h"

namespace sk::interpreter {

// What live sessions share; owned by the Interpreter, outlives them.
struct Shared {
  workspace::Keep& keep;
  sandbox::SandboxHost& host;
  const InterpreterOptions& options;
  Records& records;
  Watcher& watcher;
  sandbox::DiskGuard& disk_guard;
  WorkerPool& pool;
  // Calls LiveSession::poll when the descriptor is readable; forget before it is closed.
  std::function<void(int fd, std::weak_ptr<class LiveSession>)> watch_fd;
  std::function<void(int fd)> rearm_fd;
  std::function<void(int fd)> forget_fd;
  // Writes an execution's record soon.
  std::function<void(const Execution&)> save_later;
};

// From the first interrupt to the end of everything in the sandbox.
constexpr int64_t kInterruptGraceUs = 2 * kSecondUs;

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

  // Any thread; the work itself happens on the strand.
  void enqueue(QueuedExecution execution);
  void cancel(const Id& execution);
  // False unless that execution waits for its tools.
  bool answer_tools(const Id& execution, Json results);
  void poll();                                    // its kernel's descriptor is readable
  void tick(TimeUs now_us);                       // time-outs, captures during long runs, idle expiry
  void put_to_sleep(std::function<void()> then);  // after what runs was ended and kept
  // Of a session that sleeps: tries once more to keep what is in its copy, and names the content that is
  // nowhere else. nullopt when that cannot be found out.
  void find_only_copies(std::function<void(std::optional<std::vector<NotKept>>)> then);
  // What a dead server left in the copy is kept now.
  void recover(std::function<void()> then);
  // Removes the copy of a session that sleeps, unless something in it is nowhere else; tells whether it did.
  void evict(std::function<void(bool evicted)> then);

  // Any thread.
  bool awake() const { return awake_; }
  bool busy() const { return queued_ > 0; }
  TimeUs active_us() const { return active_us_; }
  TimeUs awake_since_us() const { return awake_since_us_; }
  int64_t execution_count() const { return count_; }
  size_t queued() const { return queued_; }
  // Counts as busy until let_go(): so that nobody ends it between its being found and being given work.
  void hold() { ++queued_; }
  void let_go() { --queued_; }
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
  void attach_copy();
  void bring_copy_up_to_date();
  void wake();
  bool go_to_sleep();                                // whether everything in the copy is kept
  std::optional<std::vector<NotKept>> only_copies_;  // that the last going to sleep found
  void run_kernel_events();
  void finish(std::string end, std::string message);
  void fail(const Error& error);
  void bring_outside_changes();
  void keep_outputs();
  std::string free_output_name(const std::string& name);
  Settled capture_now(bool everything);
  CaptureAs capture_as();
  void answer(const sandbox::KernelRequest& request);
  Json answer_request(const std::string& method, const Json& params);
  void ask_for_tools(const sandbox::KernelRequest& request);
  void drop_tools();
  void close_kernel();
  void end_for(const std::string& end, std::string why);
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
  std::atomic<bool> outside_changes_{true};
  std::atomic<bool> warned_{false};
  std::atomic<TimeUs> deadline_us_{0}, kill_us_{0}, next_capture_us_{0}, next_look_us_{0}, record_us_{0},
      save_manifest_us_{0};
  std::mutex recent_mutex_;
  std::deque<RunningExecution> recent_;  // guarded by recent_mutex_
  std::mutex tools_mutex_;
  Id waits_for_tools_;  // the execution that does; guarded by tools_mutex_

  // Strand only.
  std::unique_ptr<WorkingCopy> copy_;
  std::unique_ptr<Manifest> manifest_;
  std::unique_ptr<Capture> capture_;
  std::unique_ptr<Sync> sync_;
  workspace::Feed::Subscription subscription_;
  int64_t synced_seq_ = 0;
  std::future<void> copy_recorded_;  // that the copy is the one that the manifest describes
  std::unique_ptr<sandbox::Kernel> kernel_;
  std::unique_ptr<sandbox::DiskGuard::Ticket> disk_ticket_;  // its callback uses the kernel's session
  std::string end_why_;                                      // of end_for()
  uint64_t processes_refused_ = 0;                           // that earlier cells are to blame for
  int crowded_looks_ = 0;                                    // in a row, at which no process could be added
  std::deque<QueuedExecution> queue_;
  std::optional<QueuedExecution> current_;
  std::unique_ptr<OutputCollector> outputs_;
  Settled settled_;
  std::vector<sandbox::KernelRequest> requests_;
  uint64_t tools_request_ = 0;  // of the kernel, that answer_tools() answers
  std::optional<sandbox::CellDone> done_;
  std::optional<sandbox::Outcome> ended_;
  bool cell_failed_ = false;
  bool has_run_ = false;
  enum class Stop { none, cancelled, timeout } stop_ = Stop::none;
  TimeUs run_started_us_ = 0;
  int captures_ = 0;
  int interrupts_ = 1;  // of the cell that is to end
};

}  // namespace sk::interpreter
