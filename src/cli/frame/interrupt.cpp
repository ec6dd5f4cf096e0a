#include "cli/frame/interrupt.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <utility>

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

InterruptGuard::InterruptGuard(Terminal& terminal)
    : InterruptGuard(terminal, "interrupted; finished files are kept", {}) {}

InterruptGuard::InterruptGuard(Terminal& terminal, std::string note, std::function<void()> clean_up)
    : terminal_(terminal), note_(std::move(note)), clean_up_(std::move(clean_up)) {
  auto set = watched();
  pthread_sigmask(SIG_BLOCK, &set, &earlier_);
  thread_ = std::thread([this] { wait_for_signal(); });
}

InterruptGuard::~InterruptGuard() {
  pthread_kill(thread_.native_handle(), SIGUSR1);
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &earlier_, nullptr);
}

void InterruptGuard::add(const std::string& path) {
  MutexLock guard(mutex_);
  half_written_.insert(path);
}

void InterruptGuard::remove(const std::string& path) {
  MutexLock guard(mutex_);
  half_written_.erase(path);
}

void InterruptGuard::wait_for_signal() {
  auto set = watched();
  int number = 0;
  if (sigwait(&set, &number) != 0 || number == SIGUSR1) return;
  // Never unlocked, so that no worker starts another file.
  mutex_.lock();
  for (const auto& path : half_written_) unlink(path.c_str());
  if (clean_up_) clean_up_();
  terminal_.status("");
  terminal_.note("sandkeep: " + note_);
  _exit(number == SIGINT ? static_cast<int>(ExitCode::interrupted) : 128 + number);
}

}  // namespace sk::cli
