#include "cli/frame/interrupt.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>

#include "cli/frame/exit_code.h"

namespace sk::cli {

namespace {

// The destructor wakes the thread with SIGUSR1.
sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) sigaddset(&set, number);
  return set;
}

}  // namespace

InterruptGuard::InterruptGuard(Terminal& terminal) : terminal_(terminal) {
  auto set = watched();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] { wait_for_signal(); });
}

InterruptGuard::~InterruptGuard() {
  pthread_kill(thread_.native_handle(), SIGUSR1);
  thread_.join();
  auto set = watched();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void InterruptGuard::add(const std::string& path) {
  std::lock_guard guard(mutex_);
  half_written_.insert(path);
}

void InterruptGuard::remove(const std::string& path) {
  std::lock_guard guard(mutex_);
  half_written_.erase(path);
}

void InterruptGuard::wait_for_signal() {
  auto set = watched();
  int number = 0;
  if (sigwait(&set, &number) != 0 || number == SIGUSR1) return;
  // Never unlocked, so that no worker starts another file.
  mutex_.lock();
  for (const auto& path : half_written_) unlink(path.c_str());
  terminal_.status("");
  terminal_.note("sandkeep: interrupted; what was finished is kept");
  _exit(number == SIGINT ? static_cast<int>(ExitCode::interrupted) : 128 + number);
}

}  // namespace sk::cli
