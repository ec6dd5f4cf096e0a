// Measures what one session uses: from its control groups, and where the host has none from /proc.
#pragma once

#include <sys/types.h>

#include <utility>

#include "sandbox/cgroup.h"
#include "sandbox/limits.h"

namespace sk::sandbox {

// Any thread; constant after construction. It holds paths and process ids, so it may outlive the session. The
// figures of an ended session are zero, or, without control groups, those of a process that got its id.
class Meter {
 public:
  Meter(CgroupFiles files, pid_t main_pid, pid_t init_pid)
      : files_(std::move(files)), main_pid_(main_pid), init_pid_(init_pid) {}

  // Reads a few files. Without control groups, the files of at most kProcessesMax processes.
  static constexpr size_t kProcessesMax = 512;
  Usage read() const;

 private:
  const CgroupFiles files_;
  const pid_t main_pid_, init_pid_;
};

}  // namespace sk::sandbox
