// Client of a zygote: a Python process with the usual packages imported, which forks the main process of each
// session.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/mutex.h"
#include "sandbox/launcher.h"

namespace sk::sandbox {

// Thread-safe, except where noted. A zygote stays the parent of its children. A retired one lives until its
// last session has ended, because only it receives their exit status. If it dies before them, they continue,
// and their exit status stays unknown.
class Zygote {
 public:
  // Starts the process and returns at once; imports take some seconds. Throws as the launcher does.
  explicit Zygote(Launcher& launcher);
  ~Zygote();
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;

  // Returns false when it is not ready in time, or has ended.
  [[nodiscard]] bool wait_ready(int timeout_ms);
  // Readable when the zygote is ready, and when it has ended.
  int ready_fd() const { return socket_.get(); }
  bool alive() const { return !wait_readable(pidfd_.get(), 0); }

  struct Child {
    pid_t pid;
    Fd pidfd;
  };
  enum class Urgency { none, somebody_waits };
  // `fds` are in the order of sk_fork_request. Throws Error(unavailable) when the zygote has ended or does
  // not answer.
  Child fork(Urgency urgency, std::span<const int> fds);

  // Readable when reports of ended children are pending, and when the zygote has ended.
  int reports_fd() const { return reports_.get(); }
  // Reads the pending reports without blocking. Returns false when the zygote has ended; no more reports
  // follow.
  bool collect_reports();
  // Returns the waitpid() status, once collected. It can be taken only once.
  std::optional<int> take_status(pid_t pid);

 private:
  Mutex mutex_;  // serializes forks
  bool ready_ SK_GUARDED_BY(mutex_) = false;
  Fd socket_;
  Fd reports_;
  Fd pidfd_;
  Mutex statuses_mutex_;
  std::map<pid_t, int> statuses_ SK_GUARDED_BY(statuses_mutex_);
};

}  // namespace sk::sandbox
