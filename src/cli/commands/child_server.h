// Runs this program as a server in a child process, for `sandkeep demo`: starts, kills and restarts it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/mutex.h"

namespace sk::cli {

// One thread, except for end(). The child is killed when this object is destroyed or this process ends.
class ChildServer {
 public:
  struct Options {
    std::string folder;  // for its data and its log
    std::string root_key;
    std::vector<std::string> flags;
  };
  explicit ChildServer(Options options);
  ~ChildServer();
  ChildServer(const ChildServer&) = delete;
  ChildServer& operator=(const ChildServer&) = delete;

  // Starts the server and waits until it answers. Error(unavailable) with the end of its log.
  void start();
  // Sends SIGKILL, so the server cannot write anything more.
  void kill_at_once();
  // Kills the server for good: a start() that runs or follows fails. Any thread.
  void end();
  const std::string& url() const { return url_; }
  pid_t pid() const;  // negative while it does not run

 private:
  void kill_locked() SK_REQUIRES(mutex_);
  std::string log_tail() const;

  const Options options_;
  std::string url_;
  Fd output_;
  mutable Mutex mutex_;
  pid_t pid_ SK_GUARDED_BY(mutex_) = -1;
  bool ended_ SK_GUARDED_BY(mutex_) = false;
};

}  // namespace sk::cli
