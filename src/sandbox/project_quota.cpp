#include "sandbox/project_quota.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/quota.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "base/error.h"
#include "base/fd.h"

namespace sk::sandbox {

namespace {

int quota_call(int fd, int command, uint32_t project, void* argument) {
  constexpr int kSubcommandShift = 8;
  return static_cast<int>(
      ::syscall(SYS_quotactl_fd, fd, (command << kSubcommandShift) | PRJQUOTA, project, argument));
}

std::optional<fsxattr> attributes_of(int fd) {
  fsxattr attributes{};
  if (::ioctl(fd, FS_IOC_FSGETXATTR, &attributes) != 0) return std::nullopt;
  return attributes;
}

// Inodes of ext4 have 32 bits, so no two folders share a project. Those of XFS may have more: two sessions
// then might share one, and the smaller of their limits.
uint32_t project_of_folder(int folder_fd) {
  struct stat st;
  if (::fstat(folder_fd, &st) != 0 || !S_ISDIR(st.st_mode)) return 0;
  return static_cast<uint32_t>(st.st_ino);
}

}  // namespace

bool has_project_quotas(const std::string& folder) {
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if_dqinfo info{};
  return fd && attributes_of(fd.get()) && quota_call(fd.get(), Q_GETINFO, 0, &info) == 0;
}

void make_project(int folder_fd) {
  auto attributes = attributes_of(folder_fd);
  if (!attributes) return;
  attributes->fsx_projid = project_of_folder(folder_fd);
  // A filesystem without projects refuses the first, but would take the second.
  if (::ioctl(folder_fd, FS_IOC_FSSETXATTR, &*attributes) != 0) return;
  attributes->fsx_xflags |= FS_XFLAG_PROJINHERIT;
  (void)!::ioctl(folder_fd, FS_IOC_FSSETXATTR, &*attributes);
}

uint32_t project_of(int fd) {
  auto attributes = attributes_of(fd);
  return attributes ? attributes->fsx_projid : 0;
}

void set_project(int fd, uint32_t project) {
  auto attributes = attributes_of(fd);
  if (attributes && attributes->fsx_projid == project) return;
  if (!attributes) throw system_error("cannot read a file's project", errno);
  attributes->fsx_projid = project;
  if (::ioctl(fd, FS_IOC_FSSETXATTR, &*attributes) != 0)
    throw system_error("cannot move a file into its session's project", errno);
}

void limit_project(int folder_fd, DiskLimits limits) {
  uint32_t project = project_of(folder_fd);
  if (project == 0 || project != project_of_folder(folder_fd)) return;
  if_dqblk quota{};
  constexpr uint64_t kBlockBytes = 1024;
  quota.dqb_bhardlimit = quota.dqb_bsoftlimit = limits.bytes_max / kBlockBytes;
  quota.dqb_ihardlimit = quota.dqb_isoftlimit = limits.entries_max;
  quota.dqb_valid = QIF_LIMITS;
  if (quota_call(folder_fd, Q_SETQUOTA, project, &quota) != 0)
    throw system_error("cannot set the quota of a session's folder", errno);
}

}  // namespace sk::sandbox
