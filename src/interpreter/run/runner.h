// Runs the cells of one session in its kernel, one at a time, and says how each ended.
//
// The runner owns the kernel from open() to close(). It forwards what the kernel prints to the session's
// outputs, and holds a cell to its limits: at its time-out, or when it is cancelled, the cell is interrupted,
// again every half second, and killed with everything in its sandbox after two; a cell that keeps starting
// processes is ended. It knows nothing of files and records: the live session keeps those when a cell ends.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "interpreter/outcome.h"
#include "interpreter/run/kernel_process.h"
#include "interpreter/run/session_outputs.h"

namespace sk::interpreter {

// From the first interrupt to the end of everything in the sandbox.
constexpr int64_t kInterruptGraceUs = 2 * kSecondUs;

// A deadline of 0 is not set.
constexpr bool is_due(TimeUs at_us, TimeUs now_us) { return at_us != 0 && now_us >= at_us; }

struct Cell {
  std::string id;
  std::string_view code;
  sandbox::Language language = sandbox::Language::python;
  int64_t timeout_s = 0;
};

struct CellOutcome {
  Outcome outcome = Outcome::ok;
  std::string message;           // why it ended so, where that is not plain
  std::optional<int> exit_code;  // of a program or of bash
};

// Belongs to one session; one thread at a time (its strand). `outputs` outlives it. Time comes as a
// parameter.
class Runner : private sandbox::KernelEvents {
 public:
  // `session` names it in the log.
  Runner(std::string session, SessionOutputs& outputs) : session_(std::move(session)), outputs_(outputs) {}

  // Whom the kernel that open() is given must tell.
  sandbox::KernelEvents& events() { return *this; }
  void open(std::unique_ptr<KernelProcess> kernel);
  bool is_open() const { return kernel_ != nullptr; }
  // Destroys the kernel, and with it what still runs in its sandbox.
  void close();
  // Kills everything in the sandbox and waits for its end. False when that does not come in time.
  bool kill_and_wait(const std::string& reason, int timeout_ms);

  // Of an open runner.
  int poll_fd() const { return kernel_->poll_fd(); }
  KernelProcess& kernel() { return *kernel_; }
  // Device and inode of the files that processes hold open for writing; none when the kernel is closed.
  std::set<std::pair<uint64_t, uint64_t>> open_files() const;

  // Starts a cell; none may be running. Throws as KernelProcess::execute() does: then none is.
  void start(const Cell& cell, TimeUs now_us);
  bool is_running() const { return is_running_; }

  // When the kernel's descriptor is readable: forwards output, and calls `answer` for each request of code.
  // Whatever throws meanwhile ends the sandbox.
  void on_ready(const std::function<void(const sandbox::KernelRequest&)>& answer);
  // Once after the end of a cell: how it ended. Whether the kernel ended with it: has_ended().
  std::optional<CellOutcome> take_end();
  // No process is left in the sandbox. close() is due.
  bool has_ended() const { return ended_.has_value(); }
  // The last kernel did not end by itself: what it had open is incomplete. Until the next open().
  bool was_killed() const { return was_killed_; }

  // Interrupts the running cell and kills it when it does not listen. Nothing happens without one, or when it
  // is being stopped already.
  void cancel(TimeUs now_us);
  // Ends the sandbox because of a limit; a running cell ends with this outcome. The first cause stays.
  void end(Outcome outcome, std::string why);
  // Who stops the running cell and all later ones, for the message of their end.
  enum class StoppedBy { nobody, session, server };
  void set_stopped_by(StoppedBy who) { stopped_by_ = who; }

  // Does what is due: time-out, further interrupts, the kill, a look at processes. Call it at due_us(), which
  // is 0 when there is nothing to wait for.
  void tick(TimeUs now_us);
  TimeUs due_us() const;
  // The running cell has been interrupted and is not killed yet.
  bool is_stopping() const { return deadlines_.kill_us != 0; }

 private:
  enum class Stop { none, cancelled, timeout };

  void on_output(sandbox::Stream stream, std::string_view bytes) override { outputs_.text(stream, bytes); }
  void on_display(sandbox::Display display) override { outputs_.display(display); }
  void on_clear_output() override { outputs_.clear(); }
  void on_result(sandbox::CellResult result) override { outputs_.result(result); }
  void on_error(sandbox::CellError error) override { outputs_.error(error); }
  void on_done(sandbox::CellDone done) override { done_ = std::move(done); }
  void on_request(sandbox::KernelRequest request) override { requests_.push_back(std::move(request)); }
  void on_ended(const sandbox::Outcome& outcome) override { ended_ = outcome; }

  void interrupt(Stop why, TimeUs now_us);
  void look_at_processes(TimeUs now_us);
  bool has_new_refused_processes();
  CellOutcome end_of_cell(const sandbox::CellDone& done);
  CellOutcome end_of_kernel(const sandbox::Outcome& outcome) const;
  std::string stop_message() const;
  std::string processes_max() const;

  const std::string session_;
  SessionOutputs& outputs_;
  StoppedBy stopped_by_ = StoppedBy::nobody;

  // Of the kernel, since open().
  std::unique_ptr<KernelProcess> kernel_;
  std::vector<sandbox::KernelRequest> requests_;  // not answered yet
  std::optional<sandbox::Outcome> ended_;
  bool was_killed_ = false;
  struct Limit {
    Outcome outcome;
    std::string why;
  };
  std::optional<Limit> over_limit_;  // set by end()
  uint64_t processes_refused_ = 0;   // that earlier cells are to blame for
  int crowded_looks_ = 0;            // in a row, at which no process could be added

  // Of the running cell.
  bool is_running_ = false;
  std::optional<sandbox::CellDone> done_;
  Stop stop_ = Stop::none;
  // Zero: not set.
  struct Deadlines {
    TimeUs timeout_us = 0;
    TimeUs look_us = 0;       // at its processes
    TimeUs interrupt_us = 0;  // the next one, once it is being stopped
    TimeUs kill_us = 0;       // and when it is killed
  } deadlines_;
};

}  // namespace sk::interpreter
