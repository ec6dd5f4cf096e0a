#include "sandbox/doctor.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "base/fd.h"
#include "base/text.h"
#include "sandbox/inside/wire.h"
#include "sandbox/project_quota.h"
#include "sandbox/seccomp_policy.h"

extern "C" {
#include "sandbox/inside/common.h"
}

#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif

namespace sk::sandbox {

namespace {

constexpr uint32_t kSessionIds = 8192;

bool has_capability(int capability) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (::syscall(SYS_capget, &header, data) != 0) return false;
  return (data[capability / 32].effective >> (capability % 32)) & 1;
}

// Runs `attempt` in a child. Returns its errno, or 0 on success. The child may inherit locks held by other
// threads, so attempts must only make system calls.
int try_in_child(const std::function<int()>& attempt) {
  pid_t pid = ::fork();
  if (pid < 0) return errno;
  if (pid == 0) {
    int err = attempt();
    ::_exit(err < 0 || err > 255 ? 255 : err);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

// Tries the namespaces in a child that has the same privileges as the launcher.
int try_namespaces(bool outer, uint32_t uid, uint32_t gid, int flags) {
  return try_in_child([=] {
    sk_fault fault{};
    if (outer && sk_enter_outer_user_namespace(uid, gid, &fault) != 0) return fault.err;
    return flags == 0 || ::unshare(flags) == 0 ? 0 : errno;
  });
}

std::string because(int err) { return err == 0 ? "works" : std::strerror(err); }

int try_idmap(const std::string& data_root, uint32_t first) {
  return try_in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0) return errno;
    int idmap = sk_make_idmap_namespace(first, first + 1, first, first + 1);
    if (idmap < 0) return errno;
    auto tree = static_cast<int>(::syscall(SYS_open_tree, AT_FDCWD, data_root.c_str(), OPEN_TREE_CLONE));
    if (tree < 0) return errno;
    mount_attr attributes{};
    attributes.attr_set = MOUNT_ATTR_IDMAP;
    attributes.userns_fd = static_cast<uint64_t>(idmap);
    return ::syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes) == 0 ? 0
                                                                                                      : errno;
  });
}

class Examination {
 public:
  Examination(const CgroupTree& cgroups, const std::string& data_root)
      : cgroups_(cgroups), data_root_(data_root) {}

  Findings run() {
    uid_ = ::geteuid();
    gid_ = ::getegid();
    found_.report.is_root = has_capability(CAP_SYS_ADMIN);
    outer_ = !found_.report.is_root;
    if (outer_) found_.layer_bits |= SK_LAYER_OUTER_USER_NAMESPACE;
    namespaces();
    users();
    filters();
    limits();
    return std::move(found_);
  }

 private:
  void add(std::string name, Need need, int err, uint32_t bit, std::string detail, std::string advice) {
    if (err == 0) found_.layer_bits |= bit;
    if (detail.empty()) detail = because(err);
    found_.report.layers.push_back(
        {std::move(name), err == 0, need, std::move(detail), err == 0 ? "" : std::move(advice)});
  }

  void namespaces() {
    const std::string in_container =
        " In Docker, add --cap-add SYS_ADMIN --security-opt seccomp=unconfined --security-opt "
        "apparmor=unconfined, or run rootless.";
    if (outer_) {
      int err = try_namespaces(true, uid_, gid_, 0);
      add("user namespaces for ordinary users", Need::always, err, 0, "",
          "Set sysctl kernel.unprivileged_userns_clone=1 and user.max_user_namespaces=10000 (Ubuntu: also "
          "kernel.apparmor_restrict_unprivileged_userns=0), or run as root." +
              in_container);
    }
    add("mount and pid namespaces", Need::always,
        try_namespaces(outer_, uid_, gid_, CLONE_NEWNS | CLONE_NEWPID), 0, "",
        "Run as root, or allow user namespaces." + in_container);
    add("network namespace", Need::required, try_namespaces(outer_, uid_, gid_, CLONE_NEWNET),
        SK_LAYER_NETWORK_NAMESPACE, "",
        "Use a kernel with CONFIG_NET_NS; set sysctl user.max_net_namespaces.");
    add("ipc and uts namespaces", Need::required,
        try_namespaces(outer_, uid_, gid_, CLONE_NEWIPC | CLONE_NEWUTS), SK_LAYER_IPC_UTS_NAMESPACES, "",
        "Use a kernel with CONFIG_IPC_NS and CONFIG_UTS_NS.");
    add("cgroup namespace", Need::useful, try_namespaces(outer_, uid_, gid_, CLONE_NEWCGROUP),
        SK_LAYER_CGROUP_NAMESPACE, "", "Use a kernel with CONFIG_CGROUPS.");
    add("user namespace of the session", outer_ ? Need::required : Need::useful,
        try_namespaces(outer_, uid_, gid_, CLONE_NEWUSER), SK_LAYER_OWN_USER_NAMESPACE, "",
        "Set sysctl user.max_user_namespaces=10000." + in_container);
  }

  void users() {
    UserIdPlan& ids = found_.ids;
    ids.owner_uid = uid_;
    ids.owner_gid = gid_;
    if (outer_) return;  // session 0: the only user of the outer namespace, which is the server's
    ids.session = uid_;
    uint32_t first = has_capability(CAP_SETUID) && has_capability(CAP_SETGID)
                         ? choose_first_id(read_file("/proc/self/uid_map"), kSessionIds)
                         : 0;
    add("user ids that are not root's", Need::required, first ? 0 : EPERM, 0,
        first ? "from " + std::to_string(first) : "the server has no user ids for sessions",
        "Run as real root, or in a container with at least 30,000 user ids.");
    if (!first) return;
    ids.owner_uid = ids.owner_gid = ids.session = first;
    int err = data_root_.empty() ? ENOENT : try_idmap(data_root_, first);
    add("a user id for each session", Need::useful, err, SK_LAYER_IDMAP, "",
        "Keep the data folder on ext4, xfs or btrfs, on Linux 5.12 or later.");
    if (err != 0) return;
    ids.first = first;
    ids.count = kSessionIds;
  }

  void filters() {
    add("system call filter", Need::required, kernel_has_seccomp() ? 0 : ENOSYS, SK_LAYER_SECCOMP, "seccomp",
        "Use a kernel with CONFIG_SECCOMP_FILTER.");
    int abi = sk_landlock_abi();
    add("Landlock", Need::useful, abi >= 1 ? 0 : ENOSYS, SK_LAYER_LANDLOCK,
        abi >= 1 ? "version " + std::to_string(abi) : "not in this kernel",
        "Boot with lsm=landlock,… in the kernel's command line.");
  }

  void limits() {
    bool exact = cgroups_.has("memory") && cgroups_.has("pids");
    found_.report.limits_are_exact = exact;
    if (!cgroups_.has("memory")) found_.layer_bits |= SK_LAYER_MEMORY_WATCH;
    std::string detail = cgroups_.description();
    if (!exact) detail += "; limits are approximate: a watcher for memory, resource limits for processes";
    add("limits by control groups", Need::exact, exact ? 0 : ENOENT, 0, detail,
        outer_
            ? "With systemd, start the server as: systemd-run --user --scope -p Delegate=yes sandkeep serve. "
              "Or start it with --limits=approximate."
            : "Mount cgroup v2 and run the server in a group that is delegated to it (systemd: "
              "Delegate=yes; Docker: --cgroupns=private with a writable /sys/fs/cgroup). Or start it with "
              "--limits=approximate.");
    if (exact)
      add("fair shares of the processor", Need::useful, cgroups_.has("cpu") ? 0 : ENOENT, 0,
          cgroups_.has("cpu") ? "the same for each principal" : "by priority only: no cpu controller",
          "Delegate the cpu controller too (systemd: Delegate=cpu memory pids).");
    bool has_quotas = !outer_ && has_project_quotas(data_root_);
    found_.has_project_quotas = has_quotas;
    add("disk limits by project quotas", Need::useful, has_quotas ? 0 : ENOTSUP, 0,
        has_quotas ? "writes over a session's limit fail"
                   : "a watcher ends sessions that are over their limit",
        outer_ ? "Run as root, and keep the data folder on a filesystem with project quotas."
               : "Keep the data folder on ext4 with the features project and quota (of an unmounted disk: "
                 "tune2fs -O project,quota -Q prjquota DISK), or on XFS, mounted with the option prjquota.");
  }

  const CgroupTree& cgroups_;
  const std::string& data_root_;
  uint32_t uid_ = 0, gid_ = 0;
  bool outer_ = false;
  Findings found_;
};

}  // namespace

bool Report::possible() const {
  for (const auto& layer : layers)
    if (!layer.present && layer.need == Need::always) return false;
  return true;
}

bool Report::complete() const {
  for (const auto& layer : layers)
    if (!layer.present && (layer.need == Need::always || layer.need == Need::required)) return false;
  return true;
}

std::string Report::missing() const {
  std::string out;
  for (const auto& layer : layers)
    if (!layer.present && (layer.need == Need::always || layer.need == Need::required))
      out += (out.empty() ? "" : ", ") + layer.name;
  return out;
}

Findings examine_host(const CgroupTree& cgroups, const std::string& data_root) {
  return Examination(cgroups, data_root).run();
}

}  // namespace sk::sandbox
