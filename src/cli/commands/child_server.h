// A server of this same program as a child process, for `sandkeep demo`: started, killed, started again.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/fd.h"

namespace sk::cli {

// One thread. The child ends with this object, and with this process.
class ChildServer {
 public:
  struct Options {
    std::string folder;  // its data and its log
    std::string root_key;
    std::vector<std::string> flags;
  };
  explicit ChildServer(Options options);
  ~ChildServer();
  ChildServer(const ChildServer&) = delete;
  ChildServer& operator=(const ChildServer&) = delete;

  // Waits until it answers. Throws Error(unavailable) with the end of its log.
  void start();
  // SIGKILL: it gets no chance to write anything more.
  void kill_at_once();
  const std::string& url() const { return url_; }
  pid_t pid() const { return pid_; }

 private:
  std::string log_tail() const;

  const Options options_;
  std::string url_;
  pid_t pid_ = -1;
  Fd output_;
};

}  // namespace sk::cli
