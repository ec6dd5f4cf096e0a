// Runs the cells of one session in its kernel, one at a time, and reports how each ended.
//
// The runner owns the kernel from open() to close(). It forwards the kernel's output to the session's outputs
// and enforces the limits of a cell. At its time-out, or on cancel, the cell is interrupted, again every half
// second, and killed with everything in its sandbox after two seconds. A cell that keeps starting processes
// is ended. The runner knows nothing of files and records: the live session keeps those when a cell ends.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "interpreter/outcome.h"
#include "interpreter/run/kernel_process.h"
#include "interpreter/run/session_outputs.h"

namespace sk::interpreter {

// From the first interrupt until everything in the sandbox is killed.
constexpr int64_t kInterruptGraceUs = 2 * kSecondUs;

// A deadline of 0 is not set.
constexpr bool is_due(TimeUs at_us, TimeUs now_us) { return at_us != 0 && now_us >= at_us; }
// The earlier of two deadlines.
constexpr TimeUs earlier(TimeUs one_us, TimeUs other_us) {
  return one_us == 0 || other_us == 0 ? std::max(one_us, other_us) : std::min(one_us, other_us);
}

struct Cell {
  std::string id;
  std::string_view code;
  sandbox::Language language = sandbox::Language::python;
  std::string_view tools = {};  // see NewExecution::tools
  int64_t timeout_s = 0;
};

struct CellOutcome {
  Outcome outcome = Outcome::ok;
  std::string message;           // the reason, where the outcome does not show it
  std::optional<int> exit_code;  // of a program or of bash
};

// Belongs to one session; one thread at a time (its strand), except where a method says so. `outputs`
// outlives it. Time comes as a parameter.
class Runner : private sandbox::KernelEvents {
 public:
  // `session` names it in the log.
  Runner(std::string session, SessionOutputs& outputs) : session_(std::move(session)), outputs_(outputs) {}

  // The events to pass to the kernel that open() gets.
  sandbox::KernelEvents& events() { return *this; }
  void open(std::unique_ptr<KernelProcess> kernel);
  bool is_open() const { return kernel_ != nullptr; }
  // Destroys the kernel, and with it all processes in its sandbox.
  void close();
  // Kills everything in the sandbox and waits for its end. False when it does not end in time.
  bool kill_and_wait(const std::string& reason, int timeout_ms);

  // Require an open runner.
  int poll_fd() const { return kernel_->poll_fd(); }
  KernelProcess& kernel() { return *kernel_; }
  // Device and inode of the files that processes hold open for writing; none when the kernel is closed.
  std::set<std::pair<uint64_t, uint64_t>> open_files() const;

  // Starts a cell; none may be running. Throws like KernelProcess::execute(); no cell is running then.
  void start(const Cell& cell, TimeUs now_us);
  bool is_running() const { return is_running_; }

  // Call when the kernel's descriptor is readable. Forwards output and calls `answer` for each request of
  // code. An exception ends the sandbox.
  void on_ready(const std::function<void(const sandbox::KernelRequest&)>& answer);
  // Returns once, after the end of a cell, how it ended. has_ended() says whether the kernel ended with it.
  std::optional<CellOutcome> take_end();
  // True when no process is left in the sandbox. Call close() then.
  bool has_ended() const { return ended_.has_value(); }
  // True when the last kernel did not end by itself, so that its open files are incomplete. Valid until the
  // next open().
  bool was_killed() const { return was_killed_; }

  // Interrupts the running cell, and kills it if it ignores the interrupts. Does nothing when no cell runs or
  // it is already being stopped.
  void cancel(TimeUs now_us);
  // Ends the sandbox because of a limit. A running cell ends with this outcome. The first call wins.
  void end(Outcome outcome, std::string why);
  // The cause of stopping the running cell and all later ones, for the message of their end.
  enum class StoppedBy { nobody, session, server };
  void set_stopped_by(StoppedBy who) { stopped_by_ = who; }

  // Does due work: time-out, further interrupts, the kill, the check of processes. Call it at due_us(), which
  // is 0 when nothing is due.
  void tick(TimeUs now_us);
  TimeUs due_us() const;
  // True while the running cell is interrupted and not yet killed.
  bool is_stopping() const { return deadlines_.kill_us != 0; }

  // Any thread. Since when the cell runs; 0 when none runs.
  TimeUs running_since_us() const { return running_since_us_; }
  // Any thread. When the time of the running cell is over; 0 when none runs.
  TimeUs ends_by_us() const { return ends_by_us_; }
  // Any thread. What the sandbox uses now; zeros while the kernel is closed.
  sandbox::Usage usage() const;

 private:
  enum class Stop { none, cancelled, timeout };

  void on_output(sandbox::Stream stream, std::string_view bytes) override { outputs_.text(stream, bytes); }
  void on_display(sandbox::Display display) override { outputs_.display(display); }
  void on_clear_output() override { outputs_.clear(); }
  void on_result(sandbox::CellResult result) override { outputs_.result(result); }
  void on_error(sandbox::CellError error) override { outputs_.error(error); }
  void on_done(sandbox::CellDone done) override { done_ = std::move(done); }
  void on_request(sandbox::KernelRequest request) override { requests_.push_back(std::move(request)); }
  void on_ended(const sandbox::SessionEnd& outcome) override { ended_ = outcome; }

  void set_meter(std::shared_ptr<const sandbox::Meter> meter);
  void interrupt(Stop why, TimeUs now_us);
  void look_at_processes(TimeUs now_us);
  CellOutcome end_of_cell(const sandbox::CellDone& done);
  CellOutcome end_of_kernel(const sandbox::SessionEnd& outcome) const;
  std::string stop_message() const;
  std::string processes_max() const;

  const std::string session_;
  SessionOutputs& outputs_;
  StoppedBy stopped_by_ = StoppedBy::nobody;

  // State of the kernel, since open().
  std::unique_ptr<KernelProcess> kernel_;
  std::vector<sandbox::KernelRequest> requests_;  // not answered yet
  std::optional<sandbox::SessionEnd> ended_;
  bool was_killed_ = false;
  struct Limit {
    Outcome outcome;
    std::string why;
  };
  std::optional<Limit> over_limit_;  // set by end()

  // For any thread.
  std::atomic<TimeUs> running_since_us_{0};
  std::atomic<TimeUs> ends_by_us_{0};
  mutable Mutex meter_mutex_;
  std::shared_ptr<const sandbox::Meter> meter_ SK_GUARDED_BY(meter_mutex_);  // null while closed

  // State of the running cell.
  bool is_running_ = false;
  std::optional<sandbox::CellDone> done_;
  Stop stop_ = Stop::none;
  uint64_t processes_refused_ = 0;  // refusals before it began
  int crowded_looks_ = 0;           // consecutive checks at which no process could be added
  // 0: not set.
  struct Deadlines {
    TimeUs timeout_us = 0;
    TimeUs look_us = 0;       // next check of its processes
    TimeUs interrupt_us = 0;  // next interrupt, once it is being stopped
    TimeUs kill_us = 0;       // time of the kill
  } deadlines_;
};

}  // namespace sk::interpreter
