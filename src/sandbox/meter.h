// Measures what one session uses: from its control groups, and where the host has none from /proc.
#pragma once

#include <sys/types.h>

#include <memory>
#include <utility>

#include "base/fd.h"
#include "sandbox/cgroup.h"
#include "sandbox/limits.h"

namespace sk::sandbox {

// Returns the number of refused calls that a session's init has counted in a file; 0 for null.
uint64_t read_refusals(const Fd* file);

// Any thread; constant after construction. It holds paths and process ids, so it may outlive the session. The
// figures of an ended session are zero, or, without control groups, those of a process that got its id.
class Meter {
 public:
  Meter(CgroupFiles files, std::shared_ptr<const Fd> refusals, pid_t main_pid, pid_t init_pid)
      : files_(std::move(files)), refusals_(std::move(refusals)), main_pid_(main_pid), init_pid_(init_pid) {}

  // Reads a few files. Without control groups, the files of at most kProcessesMax processes.
  static constexpr size_t kProcessesMax = 512;
  Usage read() const;

 private:
  const CgroupFiles files_;
  const std::shared_ptr<const Fd> refusals_;  // shared with the session; null: not counted
  const pid_t main_pid_, init_pid_;
};

}  // namespace sk::sandbox
