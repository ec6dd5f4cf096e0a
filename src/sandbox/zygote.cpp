#include "sandbox/zygote.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "base/error.h"

namespace sk::sandbox {

namespace {
constexpr int kForkTimeoutMs = 30'000;  // takes a few milliseconds, unless the machine is overloaded
constexpr int kEndTimeoutMs = 5'000;
}  // namespace

Zygote::Zygote(Launcher& launcher) {
  Pair socket = packet_sockets();
  Pair reports = packet_sockets();
  const std::array fds = {socket.theirs.get(), reports.theirs.get()};
  pidfd_ = launcher.start_zygote(fds).pidfd;
  socket_ = std::move(socket.ours);
  reports_ = std::move(reports.ours);
}

Zygote::~Zygote() {
  socket_.reset();  // it reads end-of-file and exits
  reports_.reset();
  if (pidfd_ && !wait_readable(pidfd_.get(), kEndTimeoutMs))
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0u);
}

bool Zygote::wait_ready(int timeout_ms) {
  MutexLock lock(mutex_);
  if (ready_) return true;
  sk_fork_reply reply{};
  std::vector<Fd> none;
  ready_ = receive_packet(socket_.get(), reply, none, timeout_ms) && reply.fault.step == 0;
  return ready_;
}

Zygote::Child Zygote::fork(Urgency urgency, std::span<const int> fds) {
  MutexLock lock(mutex_);
  sk_fork_request request{urgency == Urgency::none};
  sk_fork_reply reply{};
  std::vector<Fd> received;
  if (!send_packet(socket_.get(), request, fds) ||
      !receive_packet(socket_.get(), reply, received, kForkTimeoutMs))
    throw Error(Code::unavailable, "the sandbox's zygote has ended");
  if (reply.fault.step != 0 || received.size() != 1)
    throw Error(Code::internal, "sandbox: " + describe(reply.fault));
  return {reply.pid, std::move(received[0])};
}

bool Zygote::collect_reports() {
  for (;;) {
    sk_exit_report report{};
    auto got = ::recv(reports_.get(), &report, sizeof report, MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got != static_cast<ssize_t>(sizeof report)) return false;
    MutexLock lock(statuses_mutex_);
    statuses_[report.pid] = report.status;
  }
}

std::optional<int> Zygote::take_status(pid_t pid) {
  collect_reports();
  MutexLock lock(statuses_mutex_);
  auto found = statuses_.find(pid);
  if (found == statuses_.end()) return std::nullopt;
  int status = found->second;
  statuses_.erase(found);
  return status;
}

}  // namespace sk::sandbox
