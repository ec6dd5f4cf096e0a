// Operations that need more privileges than the server keeps while it answers requests: starting a launcher,
// setting disk quotas, and inspecting the processes of sessions.
#pragma once

#include <memory>
#include <vector>

#include "sandbox/disk_guard.h"
#include "sandbox/launcher.h"
#include "sandbox/open_files.h"

namespace sk::sandbox {

// Thread-safe. Methods throw Error(unavailable) when the helper has ended.
class Privileged {
 public:
  virtual ~Privileged() = default;

  // Starts the launcher of a plan, and lets it build its root. Throws Error(internal) with the failed step.
  virtual LauncherProcess start_launcher(size_t plan) = 0;
  // See limit_project() in project_quota.h.
  virtual void limit_folder(int folder_fd, const DiskLimits& limits) = 0;
  // See open_files.h.
  virtual std::vector<OpenFile> files_written_by(pid_t pid) = 0;
  virtual std::vector<DeletedFile> deleted_files_of(pid_t pid, uint64_t device) = 0;
};

// Uses the privileges of this process.
std::unique_ptr<Privileged> privileged_here(std::vector<LauncherPlan> plans);

// Forks a helper that keeps the privileges of this process, which must have one thread. The plans are the
// helper's own: the server chooses one by its number and can change nothing in it. The helper ends with this
// process. Throws Error(internal).
std::unique_ptr<Privileged> privileged_helper(std::vector<LauncherPlan> plans);

}  // namespace sk::sandbox
