#include "sandbox/seccomp_policy.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>
#include <memory>

#include "base/error.h"
#include "base/fd.h"
#include "sandbox/inside/wire.h"

namespace sk::sandbox {

namespace {

// Harmless with any arguments, for a process without capabilities in its own namespaces.
constexpr const char* kAllowed[] = {
    // files
    "read",
    "write",
    "open",
    "openat",
    "openat2",
    "creat",
    "close",
    "close_range",
    "stat",
    "fstat",
    "lstat",
    "newfstatat",
    "statx",
    "access",
    "faccessat",
    "faccessat2",
    "lseek",
    "pread64",
    "pwrite64",
    "readv",
    "writev",
    "preadv",
    "pwritev",
    "preadv2",
    "pwritev2",
    "sendfile",
    "copy_file_range",
    "splice",
    "tee",
    "dup",
    "dup2",
    "dup3",
    "fcntl",
    "flock",
    "fsync",
    "fdatasync",
    "sync_file_range",
    "truncate",
    "ftruncate",
    "getdents",
    "getdents64",
    "getcwd",
    "chdir",
    "fchdir",
    "rename",
    "renameat",
    "renameat2",
    "mkdir",
    "mkdirat",
    "rmdir",
    "link",
    "linkat",
    "unlink",
    "unlinkat",
    "symlink",
    "symlinkat",
    "readlink",
    "readlinkat",
    "chmod",
    "fchmod",
    "fchmodat",
    "chown",
    "fchown",
    "lchown",
    "fchownat",
    "umask",
    "utime",
    "utimes",
    "utimensat",
    "futimesat",
    "getxattr",
    "lgetxattr",
    "fgetxattr",
    "setxattr",
    "lsetxattr",
    "fsetxattr",
    "listxattr",
    "llistxattr",
    "flistxattr",
    "removexattr",
    "lremovexattr",
    "fremovexattr",
    "statfs",
    "fstatfs",
    "readahead",
    "fadvise64",
    "inotify_init",
    "inotify_init1",
    "inotify_add_watch",
    "inotify_rm_watch",
    // waiting
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "epoll_create",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "eventfd",
    "eventfd2",
    "signalfd",
    "signalfd4",
    "timerfd_create",
    "timerfd_settime",
    "timerfd_gettime",
    "pipe",
    "pipe2",
    "pause",
    // memory
    "mmap",
    "munmap",
    "mprotect",
    "mremap",
    "madvise",
    "mincore",
    "msync",
    "brk",
    "mlock",
    "mlock2",
    "munlock",
    "mlockall",
    "munlockall",
    "membarrier",
    "pkey_alloc",
    "pkey_free",
    "pkey_mprotect",
    // threads and processes
    "exit",
    "exit_group",
    "wait4",
    "waitid",
    "kill",
    "tkill",
    "tgkill",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigpending",
    "rt_sigtimedwait",
    "rt_sigsuspend",
    "rt_sigreturn",
    "rt_sigqueueinfo",
    "rt_tgsigqueueinfo",
    "sigaltstack",
    "restart_syscall",
    "futex",
    "futex_waitv",
    "set_robust_list",
    "get_robust_list",
    "set_tid_address",
    "rseq",
    "arch_prctl",
    "getpid",
    "gettid",
    "getppid",
    "getpgrp",
    "getpgid",
    "setpgid",
    "getsid",
    "setsid",
    "pidfd_open",
    "pidfd_send_signal",
    "getrlimit",
    "setrlimit",
    "getrusage",
    "times",
    "sched_yield",
    "sched_getaffinity",
    "sched_setaffinity",
    "sched_getparam",
    "sched_getscheduler",
    "sched_getattr",
    "sched_get_priority_max",
    "sched_get_priority_min",
    "sched_rr_get_interval",
    "getpriority",
    "setpriority",
    "ioprio_get",
    "ioprio_set",
    "getcpu",
    // identity: without capabilities these change nothing
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getresuid",
    "getresgid",
    "getgroups",
    "setuid",
    "setgid",
    "setreuid",
    "setregid",
    "setresuid",
    "setresgid",
    "setgroups",
    "setfsuid",
    "setfsgid",
    "capget",
    "capset",
    // time and the machine
    "clock_gettime",
    "clock_getres",
    "clock_nanosleep",
    "gettimeofday",
    "time",
    "nanosleep",
    "getitimer",
    "setitimer",
    "alarm",
    "timer_create",
    "timer_settime",
    "timer_gettime",
    "timer_getoverrun",
    "timer_delete",
    "uname",
    "sysinfo",
    "getrandom",
    // sockets; only AF_UNIX can be created
    "bind",
    "connect",
    "listen",
    "accept",
    "accept4",
    "getsockname",
    "getpeername",
    "sendto",
    "recvfrom",
    "sendmsg",
    "recvmsg",
    "sendmmsg",
    "recvmmsg",
    "shutdown",
    "setsockopt",
    "getsockopt",
    // adding a further, stricter Landlock domain
    "landlock_create_ruleset",
    "landlock_add_rule",
    "landlock_restrict_self",
};

constexpr const char* kStartingPrograms[] = {"fork", "vfork", "execve", "execveat"};

// The server also syncs files, keeps contents in anonymous memory, tells inodes apart by their handles and
// reserves disk space.
constexpr const char* kOnlyServer[] = {"memfd_create", "sync",  "syncfs",   "name_to_handle_at",
                                       "fallocate",    "prctl", "prlimit64"};

constexpr const char* kUncountedMemory[] = {"memfd_create", "shmget", "shmat",      "shmdt",  "shmctl",
                                            "semget",       "semop",  "semtimedop", "semctl", "msgget",
                                            "msgsnd",       "msgrcv", "msgctl"};

// Known but refused: programs that check for privileges expect EPERM here, not a missing call.
constexpr const char* kRefused[] = {
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "unshare",
    "setns",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "kcmp",
    "pidfd_getfd",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "keyctl",
    "add_key",
    "request_key",
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "reboot",
    "swapon",
    "swapoff",
    "acct",
    "quotactl",
    "quotactl_fd",
    "settimeofday",
    "clock_settime",
    "adjtimex",
    "clock_adjtime",
    "open_by_handle_at",
    "fanotify_init",
    "fanotify_mark",
    "syslog",
    "sethostname",
    "setdomainname",
    "vhangup",
    "iopl",
    "ioperm",
    "modify_ldt",
    "seccomp",
    "lookup_dcookie",
    "nfsservctl",
    "vmsplice",
    "migrate_pages",
    "move_pages",
};

constexpr uint64_t k32Bits = 0xffffffff;

constexpr uint32_t kPrctlAllowed[] = {
    PR_SET_NAME,
    PR_GET_NAME,
    PR_SET_PDEATHSIG,
    PR_GET_PDEATHSIG,
    PR_SET_DUMPABLE,
    PR_GET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    PR_GET_NO_NEW_PRIVS,
    PR_SET_CHILD_SUBREAPER,
    PR_GET_CHILD_SUBREAPER,
    PR_SET_THP_DISABLE,
    PR_GET_THP_DISABLE,
    PR_SET_TIMERSLACK,
    PR_GET_TIMERSLACK,
    PR_CAPBSET_READ,
    PR_GET_SECCOMP,
    PR_GET_KEEPCAPS,
    PR_GET_SECUREBITS,
    PR_GET_TID_ADDRESS,
    PR_GET_SPECULATION_CTRL,
    PR_CAP_AMBIENT,
    0x53564d41,  // PR_SET_VMA: names of anonymous memory
};

// Allowed on files, pipes and sockets, the only descriptors of a session. Not allowed are TIOCSTI and
// TIOCLINUX, project ids, encryption policies and all driver requests.
constexpr uint32_t kIoctlAllowed[] = {
    0x5401,      // TCGETS: isatty
    0x5413,      // TIOCGWINSZ
    0x540f,      // TIOCGPGRP
    0x5411,      // TIOCOUTQ
    0x541b,      // FIONREAD
    0x5421,      // FIONBIO
    0x5450,      // FIONCLEX
    0x5451,      // FIOCLEX
    0x5452,      // FIOASYNC
    0x40049409,  // FICLONE
    0x4020940d,  // FICLONERANGE
    0x80086601,  // FS_IOC_GETFLAGS
    0xc020660b,  // FS_IOC_FIEMAP
};

// Besides those: projects of the files that it puts into sessions' folders.
constexpr uint32_t kIoctlOnlyServer[] = {
    0x801c581f,  // FS_IOC_FSGETXATTR
    0x401c5820,  // FS_IOC_FSSETXATTR
};

// All namespaces. CLONE_NEWTIME shares its bit with the exit signal and cannot be passed to clone().
constexpr uint64_t kCloneNewFlags =
    0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000;

class Policy {
 public:
  Policy() : context_(seccomp_init(SCMP_ACT_ERRNO(ENOSYS)), seccomp_release) {
    require(context_ ? 0 : -ENOMEM, "start");
    // Calls of other architectures (i386, x32) return ENOSYS like unknown calls.
    require(seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS)),
            "set the foreign action");
    require(seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2), "optimise");
    require(seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_NNP, 0), "leave no-new-privs alone");
  }

  void add(uint32_t action, const char* name, std::initializer_list<scmp_arg_cmp> conditions = {}) {
    int number = seccomp_syscall_resolve_name(name);
    if (number < 0) return;  // this architecture has no such call: it returns ENOSYS
    require(seccomp_rule_add_array(context_.get(), action, number, static_cast<unsigned>(conditions.size()),
                                   conditions.begin()),
            name);
  }

  std::string bytes() const {
    Fd file(::memfd_create("filter", MFD_CLOEXEC));
    if (!file) throw system_error("cannot make an anonymous file", errno);
    require(seccomp_export_bpf(context_.get(), file.get()), "export");
    std::string out(static_cast<size_t>(::lseek(file.get(), 0, SEEK_END)), '\0');
    read_at(file.get(), std::as_writable_bytes(std::span(out)), 0, "the filter");
    SK_CHECK(out.size() % sizeof(sock_filter) == 0 &&
                 out.size() / sizeof(sock_filter) <= SK_FILTER_INSTRUCTIONS_MAX,
             std::to_string(out.size()));
    return out;
  }

 private:
  static void require(int result, const char* what) {
    if (result < 0) throw system_error(std::string("libseccomp: cannot ") + what, -result);
  }
  std::unique_ptr<void, void (*)(scmp_filter_ctx)> context_;
};

scmp_arg_cmp is(unsigned argument, uint64_t mask, uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

void add_threads(Policy& policy) {
  // glibc falls back from clone3 to clone, whose flags are in a register that a filter can check.
  policy.add(SCMP_ACT_ALLOW, "clone", {is(0, kCloneNewFlags, 0)});
  for (uint64_t bit = 1; bit <= kCloneNewFlags; bit <<= 1)
    if (kCloneNewFlags & bit) policy.add(SCMP_ACT_ERRNO(EPERM), "clone", {is(0, bit, bit)});
}

void add_filtered_by_argument(Policy& policy, const SeccompOptions& options) {
  add_threads(policy);
  // The network namespace is empty. This also protects the kernel's rarely used protocol families.
  for (const char* name : {"socket", "socketpair"}) {
    policy.add(SCMP_ACT_ALLOW, name, {is(0, k32Bits, AF_UNIX)});
    policy.add(SCMP_ACT_ERRNO(EACCES), name, {{0, SCMP_CMP_NE, AF_UNIX, 0}});
  }
  for (uint32_t option : kPrctlAllowed) policy.add(SCMP_ACT_ALLOW, "prctl", {is(0, k32Bits, option)});
  for (uint32_t request : kIoctlAllowed) policy.add(SCMP_ACT_ALLOW, "ioctl", {is(1, k32Bits, request)});
  policy.add(SCMP_ACT_ALLOW, "personality", {is(0, k32Bits, 0xffffffff)});
  policy.add(SCMP_ACT_ALLOW, "personality", {is(0, k32Bits, 0)});
  policy.add(SCMP_ACT_ALLOW, "prlimit64", {is(0, k32Bits, 0)});

  // Preallocation beyond the end of a file (FALLOC_FL_KEEP_SIZE without PUNCH_HOLE) would bypass
  // RLIMIT_FSIZE.
  for (uint64_t mode : {0, 2, 3}) {
    policy.add(SCMP_ACT_ALLOW, "fallocate",
               {is(1, 3, mode), {3, SCMP_CMP_LE, options.preallocation_bytes_max, 0}});
    policy.add(SCMP_ACT_ERRNO(EFBIG), "fallocate",
               {is(1, 3, mode), {3, SCMP_CMP_GT, options.preallocation_bytes_max, 0}});
  }
  policy.add(SCMP_ACT_ERRNO(EOPNOTSUPP), "fallocate", {is(1, 3, 1)});

  for (auto [name, argument] : {std::pair{"mknod", 1u}, std::pair{"mknodat", 2u}})
    for (uint64_t kind : {0u, static_cast<unsigned>(S_IFREG), static_cast<unsigned>(S_IFIFO),
                          static_cast<unsigned>(S_IFSOCK)})
      policy.add(SCMP_ACT_ALLOW, name, {is(argument, S_IFMT, kind)});
}

}  // namespace

std::string compile_seccomp_policy(const SeccompOptions& options) {
  Policy policy;
  for (const char* name : kAllowed) policy.add(SCMP_ACT_ALLOW, name);
  for (const char* name : kStartingPrograms) policy.add(SCMP_ACT_ALLOW, name);
  constexpr unsigned kApiWithListeners = 5;
  bool counts = options.counts_refusals && seccomp_api_get() >= kApiWithListeners;
  for (const char* name : kRefused) policy.add(counts ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO(EPERM), name);
  if (options.uncounted_memory)
    for (const char* name : kUncountedMemory) policy.add(SCMP_ACT_ALLOW, name);
  // These would flush the files of all users; the server syncs the files that it keeps.
  for (const char* name : {"sync", "syncfs"}) policy.add(SCMP_ACT_ERRNO(0), name);
  policy.add(SCMP_ACT_ERRNO(EOPNOTSUPP), "name_to_handle_at");
  add_filtered_by_argument(policy, options);
  return policy.bytes();
}

std::string compile_server_policy() {
  Policy policy;
  for (const char* name : kAllowed) policy.add(SCMP_ACT_ALLOW, name);
  for (const char* name : kOnlyServer) policy.add(SCMP_ACT_ALLOW, name);
  for (const char* name : kRefused) policy.add(SCMP_ACT_ERRNO(EPERM), name);
  for (const char* name : kStartingPrograms) policy.add(SCMP_ACT_ERRNO(EPERM), name);
  add_threads(policy);
  // Names are resolved over netlink, too.
  for (uint64_t family : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK})
    policy.add(SCMP_ACT_ALLOW, "socket", {is(0, k32Bits, family)});
  policy.add(SCMP_ACT_ALLOW, "socketpair", {is(0, k32Bits, AF_UNIX)});
  for (uint32_t request : kIoctlAllowed) policy.add(SCMP_ACT_ALLOW, "ioctl", {is(1, k32Bits, request)});
  for (uint32_t request : kIoctlOnlyServer) policy.add(SCMP_ACT_ALLOW, "ioctl", {is(1, k32Bits, request)});
  return policy.bytes();
}

std::string compile_reader_policy() {
  Policy policy;
  for (const char* name :
       {"read", "write", "exit", "exit_group", "brk", "mmap", "munmap", "mremap", "madvise", "mprotect",
        "futex", "setitimer", "rt_sigreturn", "rt_sigprocmask", "getpid", "gettid"})
    policy.add(SCMP_ACT_ALLOW, name);
  return policy.bytes();
}

bool kernel_has_seccomp() { return ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 0; }

}  // namespace sk::sandbox
