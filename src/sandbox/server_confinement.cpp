#include "sandbox/server_confinement.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "sandbox/seccomp_policy.h"

extern "C" {
#include "sandbox/inside/common.h"
}

namespace sk::sandbox {

namespace {

[[noreturn]] void refuse(const char* what) {
  throw system_error(std::string("the server cannot give up ") + what, errno);
}

// Rights of Landlock, by the version that has them; newer than the headers of the build distribution.
constexpr uint64_t kWriteFile = 1 << 1, kRemoveFolder = 1 << 4, kChangeFolders = 0x1ff0;  // remove and make
constexpr uint64_t kMoveBetweenFolders = 1 << 13, kTruncate = 1 << 14;

class WritableFolders {
 public:
  explicit WritableFolders(int abi)
      : all_(kWriteFile | kChangeFolders | (abi >= 2 ? kMoveBetweenFolders : 0) |
             (abi >= 3 ? kTruncate : 0)) {
    ruleset_ = Fd(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &all_, sizeof all_, 0)));
    if (!ruleset_) refuse("writing to other folders");
  }

  void allow(const std::string& path) { allow(path, all_); }
  void allow_removing_folders(const std::string& path) { allow(path, kRemoveFolder); }
  void allow_device(const std::string& path) { allow(path, all_ & (kWriteFile | kTruncate)); }

  void restrict_this_thread() {
    if (::syscall(SYS_landlock_restrict_self, ruleset_.get(), 0) != 0) refuse("writing to other folders");
  }

 private:
  void allow(const std::string& path, uint64_t access) {
    Fd folder(::open(path.c_str(), O_PATH | O_CLOEXEC));
    landlock_path_beneath_attr rule{.allowed_access = access, .parent_fd = folder.get()};
    if (!folder ||
        ::syscall(SYS_landlock_add_rule, ruleset_.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
      throw system_error("the server cannot restrict itself to " + path, errno);
  }

  const uint64_t all_;
  Fd ruleset_;
};

// Operators move parts of the data folder to other disks, and leave a link.
void allow_data(WritableFolders& folders, const std::string& path) {
  folders.allow(path);
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path, ignored))
    if (entry.is_symlink(ignored) && entry.exists(ignored) && entry.is_directory(ignored))
      folders.allow(entry.path().string());
}

void restrict_writing(const ServerConfinement& confinement) {
  int abi = sk_landlock_abi();
  if (abi < 1) {
    log::warn("this kernel has no Landlock: the server can write wherever its user can");
    return;
  }
  WritableFolders folders(abi);
  allow_data(folders, confinement.data_folder);
  for (const auto& group : confinement.control_groups) {
    folders.allow(group);
    folders.allow_removing_folders(std::filesystem::path(group).parent_path().string());
  }
  folders.allow_device("/dev/null");
  folders.restrict_this_thread();
}

void restrict_calls() {
  if (!kernel_has_seccomp()) {
    log::warn("this kernel has no seccomp: the server can make every system call");
    return;
  }
  std::string program = compile_server_policy();
  sk_fault fault{};
  if (sk_install_filter(program.data(), program.size() / sizeof(sock_filter), &fault) != 0)
    refuse("system calls");
}

}  // namespace

void keep_capabilities(std::initializer_list<int> kept) {
  uint64_t mask = 0;
  for (int capability : kept) mask |= uint64_t{1} << capability;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (::syscall(SYS_capget, &header, data) != 0) refuse("capabilities");
  // Needs CAP_SETPCAP, so it comes first. Nobody can gain what is not in the bounding set.
  bool may_drop = (data[0].effective >> CAP_SETPCAP) & 1;
  for (int each = 0; may_drop && ::prctl(PR_CAPBSET_READ, each, 0, 0, 0) >= 0; ++each)
    if (!((mask >> each) & 1) && ::prctl(PR_CAPBSET_DROP, each, 0, 0, 0) != 0) refuse("capabilities");
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  for (int half : {0, 1}) {
    data[half].permitted &= static_cast<uint32_t>(mask >> (32 * half));
    data[half].effective = data[half].permitted;
    data[half].inheritable = 0;
  }
  if (::syscall(SYS_capset, &header, data) != 0) refuse("capabilities");
}

void confine_server(const ServerConfinement& confinement) {
  if (::setgroups(0, nullptr) != 0 && errno != EPERM) refuse("supplementary groups");
  // Working copies belong to the users of sessions, and code chooses the modes of files in them.
  if (confinement.listens_below_1024)
    keep_capabilities({CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_KILL, CAP_NET_BIND_SERVICE});
  else
    keep_capabilities({CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_KILL});
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) refuse("new privileges");
  restrict_writing(confinement);
  restrict_calls();
}

}  // namespace sk::sandbox
