#include "interpreter/run/runner.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"

namespace sk::interpreter {

namespace {

constexpr int64_t kInterruptAgainUs = kSecondUs / 2;
constexpr int64_t kLookAtProcessesUs = kSecondUs;
constexpr uint64_t kRefusedProcessesMax = 200;
constexpr int kCrowdedLooksMax = 3;

}  // namespace

void Runner::open(std::unique_ptr<KernelProcess> kernel) {
  SK_CHECK(!kernel_, "a runner has two kernels");
  kernel_ = std::move(kernel);
  set_meter(kernel_->meter());
  requests_.clear();
  ended_.reset();
  was_killed_ = false;
  over_limit_.reset();
}

void Runner::close() {
  set_meter(nullptr);
  kernel_.reset();
  ended_.reset();
  is_running_ = false;
  running_since_us_ = ends_by_us_ = 0;
  deadlines_ = {};
}

void Runner::set_meter(std::shared_ptr<const sandbox::Meter> meter) {
  MutexLock lock(meter_mutex_);
  meter_ = std::move(meter);
}

sandbox::Usage Runner::usage() const {
  std::shared_ptr<const sandbox::Meter> meter;
  {
    MutexLock lock(meter_mutex_);
    meter = meter_;
  }
  return meter ? meter->read() : sandbox::Usage{};
}

bool Runner::kill_and_wait(const std::string& reason, int timeout_ms) {
  kernel_->kill(sandbox::End::killed, reason);
  return kernel_->wait_ended(timeout_ms);
}

std::set<std::pair<uint64_t, uint64_t>> Runner::open_files() const {
  std::set<std::pair<uint64_t, uint64_t>> files;
  if (kernel_)
    for (const auto& file : kernel_->files_open_for_writing()) files.emplace(file.device, file.inode);
  return files;
}

void Runner::start(const Cell& cell, TimeUs now_us) {
  SK_CHECK(!is_running_, "a runner runs two cells");
  done_.reset();
  stop_ = Stop::none;
  // Processes that earlier cells left behind may have reached the limit since.
  processes_refused_ = kernel_->processes_refused();
  crowded_looks_ = 0;
  kernel_->execute(cell.id, cell.code, cell.language, cell.tools);
  is_running_ = true;
  ends_by_us_ = now_us + cell.timeout_s * kSecondUs;
  running_since_us_ = now_us;
  deadlines_ = {.timeout_us = ends_by_us_, .look_us = now_us + kLookAtProcessesUs};
}

void Runner::on_ready(const std::function<void(const sandbox::KernelRequest&)>& answer) {
  try {
    kernel_->on_ready();
    for (const auto& request : std::exchange(requests_, {})) answer(request);
  } catch (const std::exception& error) {
    log::error("a session's kernel failed", {{"session", session_}, {"error", error.what()}});
    kernel_->kill(sandbox::End::protocol, error.what());
  }
}

std::optional<CellOutcome> Runner::take_end() {
  if (ended_) was_killed_ = ended_->end != sandbox::End::exited;
  if (!is_running_ || (!ended_ && !done_)) return std::nullopt;
  is_running_ = false;
  running_since_us_ = ends_by_us_ = 0;
  deadlines_ = {};
  return ended_ ? end_of_kernel(*ended_) : end_of_cell(*done_);
}

CellOutcome Runner::end_of_kernel(const sandbox::SessionEnd& outcome) const {
  switch (outcome.end) {
    case sandbox::End::oom:
      return {Outcome::oom, outcome.reason, {}};
    case sandbox::End::exited:
      return {outcome.exit_code.value_or(0) == 0 ? Outcome::ok : Outcome::error,
              "the program ended its interpreter; variables are lost, files are kept", outcome.exit_code};
    case sandbox::End::killed: {
      CellOutcome end{stop_ == Stop::timeout ? Outcome::timeout : Outcome::interrupted, outcome.reason, {}};
      if (over_limit_ && stop_ != Stop::timeout) end.outcome = over_limit_->outcome;
      if (over_limit_) end.message = over_limit_->why + "; variables are lost, closed files are kept";
      if (stopped_by_ != StoppedBy::nobody) end.message = stop_message();
      return end;
    }
    default:
      return {Outcome::crash, outcome.reason, {}};
  }
}

CellOutcome Runner::end_of_cell(const sandbox::CellDone& done) {
  CellOutcome end;
  end.exit_code = done.exit_code;
  end.outcome = done.status == sandbox::CellStatus::ok      ? Outcome::ok
                : done.status == sandbox::CellStatus::error ? Outcome::error
                                                            : Outcome::interrupted;
  bool refused = kernel_->processes_refused() > processes_refused_;
  if (stopped_by_ == StoppedBy::server && end.outcome == Outcome::interrupted) {
    end.message = stop_message();
  } else if (stop_ == Stop::timeout) {
    end.outcome = Outcome::timeout;
    end.message = "it exceeded its time-out and was interrupted; variables are still there";
  } else if (end.outcome == Outcome::error && refused) {
    end.outcome = Outcome::pids;
    end.message = "it tried to start more processes than the " + processes_max() +
                  " that a session may have at once; variables are still there";
  }
  return end;
}

std::string Runner::stop_message() const {
  return std::string(stopped_by_ == StoppedBy::server ? "the server" : "the session") +
         " was stopped while this ran; files that were closed by then are kept";
}

std::string Runner::processes_max() const { return std::to_string(kernel_->processes_max()); }

void Runner::cancel(TimeUs now_us) {
  if (is_running_ && stop_ == Stop::none) interrupt(Stop::cancelled, now_us);
}

void Runner::interrupt(Stop why, TimeUs now_us) {
  stop_ = why;
  deadlines_.interrupt_us = now_us + kInterruptAgainUs;
  deadlines_.kill_us = now_us + kInterruptGraceUs;
  kernel_->interrupt();
}

void Runner::end(Outcome outcome, std::string why) {
  if (!kernel_ || over_limit_) return;
  over_limit_ = {outcome, std::move(why)};
  std::string name(name_of(outcome));
  log::warn("a session is ended", {{"session", session_}, {"end", name}, {"why", over_limit_->why}});
  kernel_->kill(sandbox::End::killed, name);
}

void Runner::tick(TimeUs now_us) {
  if (!is_running_) return;
  if (is_due(deadlines_.look_us, now_us)) look_at_processes(now_us);
  if (is_due(deadlines_.kill_us, now_us)) {
    // The cell ignored the interrupts: kill everything in the sandbox.
    deadlines_.kill_us = deadlines_.interrupt_us = deadlines_.timeout_us = 0;
    kernel_->kill(sandbox::End::killed,
                  std::string(name_of(stop_ == Stop::timeout ? Outcome::timeout : Outcome::interrupted)));
  } else if (is_due(deadlines_.interrupt_us, now_us)) {
    // Repeats the interrupt: one that arrives just before the cell begins is lost, and code may swallow one.
    deadlines_.interrupt_us = now_us + kInterruptAgainUs;
    kernel_->interrupt();
  } else if (!is_stopping() && is_due(deadlines_.timeout_us, now_us)) {
    deadlines_.timeout_us = 0;
    interrupt(Stop::timeout, now_us);
  }
}

TimeUs Runner::due_us() const {
  if (!is_running_) return 0;
  TimeUs stop_us =
      is_stopping() ? earlier(deadlines_.interrupt_us, deadlines_.kill_us) : deadlines_.timeout_us;
  return earlier(deadlines_.look_us, stop_us);
}

// Ends a cell that keeps starting processes, which would keep a core busy until its time-out.
void Runner::look_at_processes(TimeUs now_us) {
  deadlines_.look_us = now_us + kLookAtProcessesUs;
  uint64_t refused = kernel_->processes_refused();
  crowded_looks_ = refused > processes_refused_ ? crowded_looks_ + 1 : 0;
  if (refused < processes_refused_ + kRefusedProcessesMax && crowded_looks_ < kCrowdedLooksMax) return;
  end(Outcome::pids,
      "it kept starting processes, more than the " + processes_max() + " that a session may have at once");
}

}  // namespace sk::interpreter
