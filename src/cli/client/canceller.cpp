#include "cli/client/canceller.h"

#include <pthread.h>
#include <unistd.h>

#include "cli/client/remote.h"
#include "cli/frame/exit_code.h"

namespace sk::cli {

namespace {

void leave(int) { _exit(static_cast<int>(ExitCode::interrupted)); }

}  // namespace

Canceller::Canceller(const Target& target, For what) : target_(target), what_(what) {
  sigaction(SIGINT, nullptr, &action_before_);
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  thread_ = std::thread([this] { wait(); });
}

Canceller::~Canceller() {
  stopping_ = true;
  pthread_kill(thread_.native_handle(), SIGUSR1);
  thread_.join();
  sigaction(SIGINT, &action_before_, nullptr);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Canceller::sending() {
  MutexLock lock(mutex_);
  sent_ = true;
}

void Canceller::running(const std::string& path) {
  {
    MutexLock lock(mutex_);
    path_ = path;
    if (!interrupted_ || what_ == For::shell) return;
  }
  if (!path.empty()) cancel(path);
}

void Canceller::cancel(const std::string& path) const {
  try {
    Remote(target_).call("POST", path + "/cancel");
  } catch (const Error&) {
    // The execution has ended, or the server is gone, which the other connection reports.
  }
}

void Canceller::wait() {
  for (int number = 0; sigwait(&signals_, &number) == 0 && !stopping_;) {
    if (number != SIGINT) continue;
    std::string path;
    {
      MutexLock lock(mutex_);
      if (what_ == For::run && !sent_) leave(number);
      interrupted_ = true;
      path = path_;
    }
    if (what_ == For::run) {
      // This thread handles the second signal in a signal handler, even if the server does not answer the
      // first request.
      struct sigaction action{};
      action.sa_handler = leave;
      sigaction(SIGINT, &action, nullptr);
      sigdelset(&signals_, SIGINT);
      sigset_t interrupt;
      sigemptyset(&interrupt);
      sigaddset(&interrupt, SIGINT);
      pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
    }
    if (!path.empty()) cancel(path);
  }
}

}  // namespace sk::cli
