// The server's side of a zygote: a Python with the usual packages imported, which forks the main process of
// each session.
#pragma once

#include <sys/types.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/fd.h"
#include "sandbox/launcher.h"

namespace sk::sandbox {

// Any thread, except where said. It stays the parent of what it forked: one that was retired lives until its
// last session has ended, because only it learns how they ended. Should it die before them, they go on, and
// their exit status stays unknown.
class Zygote {
 public:
  struct Options {
    std::string python = "/usr/bin/python3";
    std::string filter;  // compile_seccomp_policy()
  };
  // Starts it and returns at once; imports take some seconds. Throws as the launcher does.
  Zygote(Launcher& launcher, const Options& options);
  ~Zygote();
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;

  // False when it did not get ready in time, or ended.
  [[nodiscard]] bool wait_ready(int timeout_ms);
  // Readable when it got ready, and when it ended.
  int ready_fd() const { return socket_.get(); }
  bool alive() const { return !wait_readable(pidfd_.get(), 0); }

  struct Child {
    pid_t pid;
    Fd pidfd;
  };
  enum class Urgency { none, somebody_waits };
  // Descriptors in the order of sk_fork_request. Throws Error(unavailable) when it has ended or does not
  // answer.
  Child fork(uint32_t layers, Urgency urgency, std::span<const int> fds);

  // Readable when reports of ended children wait to be collected, and when the zygote has ended.
  int reports_fd() const { return reports_.get(); }
  // Reads what waits there, without blocking. False when the zygote has ended: no more will come.
  bool collect_reports();
  // The status of waitpid(), once it was collected; it can be taken once.
  std::optional<int> take_status(pid_t pid);

 private:
  std::mutex mutex_;  // one fork at a time; also guards ready_
  bool ready_ = false;
  Fd socket_;
  Fd reports_;
  Fd pidfd_;
  std::mutex statuses_mutex_;
  std::map<pid_t, int> statuses_;  // guarded by statuses_mutex_
};

}  // namespace sk::sandbox
