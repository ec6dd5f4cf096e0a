#include "sandbox/session.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "sandbox/nursery.h"
#include "sandbox/packets.h"
#include "sandbox/session_parts.h"

namespace sk::sandbox {

namespace {

constexpr int kStatusTimeoutMs = 500;

void send_signal(const Fd& pidfd, int signal_number) {
  ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal_number, nullptr, 0u);
}

// Waits for the exit status. The zygote reaps the main process before the namespace can end, but its report
// may arrive slightly later.
std::optional<int> status_of(SessionParts& parts) {
  auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kStatusTimeoutMs);
  for (;;) {
    if (auto status = parts.zygote->take_status(parts.main_pid)) return status;
    if (!parts.zygote->alive() || std::chrono::steady_clock::now() > deadline) return std::nullopt;
    if (!wait_readable(parts.zygote->reports_fd(), 10)) continue;
  }
}

bool init_reported_memory(const SessionParts& parts) {
  sk_init_report report{};
  std::vector<Fd> none;
  return receive_packet(parts.control.get(), report, none, 0) && report.news == SK_NEWS_MEMORY;
}

}  // namespace

std::string_view name_of(End end) {
  switch (end) {
    case End::exited:
      return "exited";
    case End::crash:
      return "crash";
    case End::oom:
      return "oom";
    case End::killed:
      return "killed";
    case End::protocol:
      return "protocol";
  }
  return "unknown";
}

Session::Session(SessionSpec spec, std::unique_ptr<SessionParts> parts, Nursery& nursery)
    : spec_(std::move(spec)), parts_(std::move(parts)), nursery_(nursery) {}

Session::~Session() { nursery_.dispose(std::move(parts_)); }

int Session::channel_fd() const { return parts_->channel.get(); }
int Session::output_fd() const { return parts_->output.get(); }
int Session::errors_fd() const { return parts_->errors.get(); }
int Session::ended_fd() const { return parts_->init_pidfd.get(); }

void Session::interrupt() { send_signal(parts_->main_pidfd, SIGINT); }

void Session::kill(End end, std::string reason) {
  if (!wait_ended(0)) note(end, std::move(reason));
  send_signal(parts_->init_pidfd, SIGKILL);
  parts_->cgroup->thaw();  // frozen processes cannot be killed
}

void Session::freeze() {
  sk_control control{SK_CONTROL_FREEZE, 0, 0};
  if (!parts_->cgroup->freeze()) (void)send_packet(parts_->control.get(), control);
}

void Session::thaw() {
  sk_control control{SK_CONTROL_THAW, 0, 0};
  if (!parts_->cgroup->thaw()) (void)send_packet(parts_->control.get(), control);
}

bool Session::wait_ended(int timeout_ms) const { return wait_readable(ended_fd(), timeout_ms); }

void Session::note(End end, std::string reason) {
  if (outcome_) return;
  outcome_.emplace();
  outcome_->end = end;
  outcome_->reason = std::move(reason);
}

std::optional<SessionEnd> Session::outcome() {
  if (!final_) {
    if (!wait_ended(0)) return std::nullopt;
    outcome_ = find_outcome();
    final_ = true;
  }
  return outcome_;
}

SessionEnd Session::find_outcome() {
  SessionEnd out = outcome_.value_or(SessionEnd{});
  if (auto status = status_of(*parts_)) {
    if (WIFEXITED(*status)) out.exit_code = WEXITSTATUS(*status);
    if (WIFSIGNALED(*status)) out.signal = WTERMSIG(*status);
  }
  if (outcome_) return out;
  if (init_reported_memory(*parts_) || (usage().oom_kills > 0 && out.signal == SIGKILL)) {
    out.end = End::oom;
    out.reason = reason_of_oom();
  } else if (out.signal) {
    out.end = End::crash;
    out.reason = ::strsignal(*out.signal);
  } else {
    out.end = End::exited;
    out.reason = out.exit_code ? "exit code " + std::to_string(*out.exit_code) : "its main process ended";
  }
  return out;
}

// The kernel also ends the largest process of all sessions when their common memory is used up.
std::string Session::reason_of_oom() const {
  uint64_t peak_bytes = usage().memory_peak_bytes, limit_bytes = spec_.limits.memory_bytes;
  if (peak_bytes > 0 && peak_bytes < limit_bytes / 10 * 9)
    return "the memory of all sessions was used up, and this one used the most in one process (" +
           human_size(peak_bytes) + ")";
  return "more memory than its limit of " + human_size(limit_bytes);
}

Usage Session::usage() const { return parts_->cgroup->usage(); }

}  // namespace sk::sandbox
