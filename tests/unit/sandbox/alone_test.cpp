// Each layer by itself: a process that has all capabilities puts up one wall and runs at it. Where another
// layer would refuse as well, a lost one stays unseen; here there is no other. The same attempt without the
// layer must succeed, or it would prove nothing.
//
// Layers are chosen by calling their functions, which only this program does: the server has no way to leave
// one out.
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <functional>
#include <map>
#include <set>

#include "sandbox/seccomp_policy.h"
#include "unit/sandbox/harness.h"

extern "C" {
#include "sandbox/inside/common.h"
}

namespace sk::sandbox {
namespace {

using namespace testing;

constexpr uint32_t kAllLayers = ~0u;
constexpr int kNoNamespaces = 254, kLayerFailed = 253;

// 0, or the errno of what failed.
using Attempt = std::function<int()>;
using Layer = std::function<bool()>;

int failed(long result) { return result < 0 ? errno : 0; }

// In a folder where any user may write, and which is none of a session's own three places.
class ElsewhereFolder {
 public:
  ElsewhereFolder() {
    std::string pattern = "/var/tmp/sandkeep-test-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw system_error("mkdtemp", errno);
    path_ = pattern;
    ::chmod(path_.c_str(), 0777);
    ::close(::open((*this / "file").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
    ::mkdir((*this / "folder").c_str(), 0777);
  }
  ~ElsewhereFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ElsewhereFolder(const ElsewhereFolder&) = delete;
  ElsewhereFolder& operator=(const ElsewhereFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Runs in a child: first a user namespace in which it has every capability, with mounts, network, names and
// IPC of its own, so that no attempt reaches the machine; then the layer, then the attempt.
int run_alone(const Layer& layer, const Attempt& attempt) {
  pid_t child = ::fork();
  if (child == 0) {
    sk_fault fault{};
    if (sk_enter_outer_user_namespace(::geteuid(), ::getegid(), &fault) != 0 ||
        sk_unshare_own_mounts(kAllLayers, &fault) != 0)
      ::_exit(kNoNamespaces);
    if (!layer()) ::_exit(kLayerFailed);
    ::_exit(attempt());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 252;
}

bool no_layer() { return true; }

bool landlock() {
  sk_fault fault{};
  return sk_restrict_with_landlock(&fault) == 0;
}

bool capabilities() {
  sk_fault fault{};
  return sk_drop_capabilities(&fault) == 0;
}

Layer filter() {
  return [program = compile_seccomp_policy({})] {
    sk_fault fault{};
    return sk_install_filter(program.data(), program.size() / 8, &fault) == 0;
  };
}

Layer limits(sk_go go) {
  return [go] {
    sk_fault fault{};
    std::signal(SIGXFSZ, SIG_IGN);
    return sk_set_rlimits(&go, &fault) == 0;
  };
}

struct Expected {
  std::string what;
  Attempt attempt;
  std::set<int> refusals;
  // Whether every kernel lets a capable process do it; where this one does not, there is nothing to compare
  // with.
  enum class Control { always, perhaps } control = Control::always;
};

bool namespaces_allowed() {
  return run_alone(no_layer, [] { return 0; }) == 0;
}

void check_alone(const Layer& layer, const std::vector<Expected>& table) {
  if (!namespaces_allowed()) GTEST_SKIP() << "this user may not make user namespaces";
  for (const auto& row : table) {
    int control = run_alone(no_layer, row.attempt);
    if (control != 0 && row.control == Expected::Control::perhaps) continue;
    ASSERT_EQ(control, 0) << row.what << " fails without the layer: " << std::strerror(control);
    int got = run_alone(layer, row.attempt);
    EXPECT_TRUE(row.refusals.contains(got))
        << row.what << ": " << (got == 0 ? "not refused" : std::strerror(got)) << " (" << got << ")";
  }
}

int listen_unix_abstract(const std::string& name) {
  int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(fd, 1), 0);
  return fd;
}

int bind_tcp() {
  int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(4711);
  return failed(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address));
}

TEST(LayerAlone, LandlockKeepsWritesInTheSessionsOwnPlaces) {
  if (sk_landlock_abi() < 1) GTEST_SKIP() << "this kernel has no Landlock";
  ElsewhereFolder folder;
  test::TempFolder other;
  const auto file = folder / "file", inside = folder / "folder", fresh = folder / "new";
  const int abi = sk_landlock_abi();
  using Control = Expected::Control;
  std::vector<Expected> table = {
      {"write", [&] { return failed(::open(file.c_str(), O_WRONLY | O_CLOEXEC)); }, {EACCES}},
      {"create",
       [&] {
         int fd = ::open(fresh.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
         return fd < 0 ? errno : failed(::unlink(fresh.c_str()));
       },
       {EACCES}},
      {"mkdir",
       [&] { return failed(::mkdir(fresh.c_str(), 0700)) != 0 ? errno : failed(::rmdir(fresh.c_str())); },
       {EACCES}},
      {"symlink",
       [&] { return failed(::symlink("x", fresh.c_str())) != 0 ? errno : failed(::unlink(fresh.c_str())); },
       {EACCES}},
      {"fifo",
       [&] { return failed(::mkfifo(fresh.c_str(), 0600)) != 0 ? errno : failed(::unlink(fresh.c_str())); },
       {EACCES}},
      {"rename",
       [&] {
         return failed(::rename(file.c_str(), fresh.c_str())) != 0
                    ? errno
                    : failed(::rename(fresh.c_str(), file.c_str()));
       },
       {EACCES}},
      {"link out of the folder",
       [&] {
         auto to = inside + "/linked";
         return failed(::link(file.c_str(), to.c_str())) != 0 ? errno : failed(::unlink(to.c_str()));
       },
       {EACCES, EXDEV}},
      {"mount", [] { return failed(::mount("sandkeep-test", "/mnt", "tmpfs", 0, "")); }, {EPERM}},
  };
  if (abi >= 3) table.push_back({"truncate", [&] { return failed(::truncate(file.c_str(), 0)); }, {EACCES}});
  if (abi >= 4) table.push_back({"bind a TCP port", bind_tcp, {EACCES}});
  if (abi >= 6) {
    table.push_back({"signal a process outside",
                     [] { return failed(::kill(::getppid(), 0)); },
                     {EPERM},
                     Control::perhaps});
  }
  check_alone(landlock, table);
}

// The network namespace of the attempts would hide the socket as well, so this one stays in the program's
// own.
TEST(LayerAlone, LandlockKeepsAwayFromAbstractSocketsOutside) {
  if (sk_landlock_abi() < 6) GTEST_SKIP() << "this kernel's Landlock knows no scopes";
  const std::string name = "sandkeep-test-" + random_base64url(9);
  int listening = listen_unix_abstract(name);
  auto connect = [&](bool restricted) {
    pid_t child = ::fork();
    if (child == 0) {
      sk_fault fault{};
      if (sk_forbid_new_privileges(&fault) != 0 || (restricted && sk_restrict_with_landlock(&fault) != 0))
        ::_exit(kLayerFailed);
      int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      std::memcpy(address.sun_path + 1, name.data(), name.size());
      ::_exit(failed(::connect(fd, reinterpret_cast<sockaddr*>(&address),
                               static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size()))));
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(connect(false), 0);
  EXPECT_EQ(connect(true), EPERM);
  ::close(listening);
}

TEST(LayerAlone, TheFilterRefusesAProcessThatHasEveryCapability) {
  using Control = Expected::Control;
  auto call = [](long number, auto... arguments) {
    return [=] { return failed(::syscall(number, arguments...)); };
  };
  static const uint32_t kAllow = SECCOMP_RET_ALLOW;
  static char byte = 0, seen = 0;
  static iovec own{&byte, 1}, target{&seen, 1};
  static char io_uring_parameters[120];
  auto socket_of = [](int family, int type) {
    return [=] { return failed(::socket(family, type | SOCK_CLOEXEC, 0)); };
  };
  check_alone(
      filter(),
      {
          {"mount", [] { return failed(::mount("sandkeep-test", "/mnt", "tmpfs", 0, "")); }, {EPERM}},
          {"a mount by the newer calls", call(SYS_fsopen, "tmpfs", 0), {EPERM}},
          {"clone a tree", call(SYS_open_tree, AT_FDCWD, "/", OPEN_TREE_CLONE | AT_RECURSIVE), {EPERM}},
          {"new mounts", [] { return failed(::unshare(CLONE_NEWNS)); }, {EPERM}},
          {"a new user namespace", [] { return failed(::unshare(CLONE_NEWUSER)); }, {EPERM}},
          {"a clone in namespaces of its own",
           [] {
             long child = ::syscall(SYS_clone, CLONE_NEWUTS | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
             if (child == 0) ::_exit(0);
             return failed(child);
           },
           {EPERM}},
          {"clone3, which a filter cannot look into",
           [] {
             uint64_t arguments[8] = {0, 0, 0, 0, SIGCHLD, 0, 0, 0};
             long child = ::syscall(SYS_clone3, arguments, sizeof arguments);
             if (child == 0) ::_exit(0);
             return failed(child);
           },
           {ENOSYS}},
          {"join a namespace",
           [] {
             int fd = ::open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
             return failed(::setns(fd, CLONE_NEWUTS));
           },
           {EPERM}},
          {"change the root", [] { return failed(::chroot("/")); }, {EPERM}},
          {"rename the host", [] { return failed(::sethostname("x", 1)); }, {EPERM}},
          {"be traced", [] { return failed(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); }, {EPERM}},
          {"read memory",
           [] { return failed(::process_vm_readv(::getpid(), &own, 1, &target, 1, 0)); },
           {EPERM}},
          {"a keyring",
           call(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1),
           {EPERM},
           Control::perhaps},
          {"faults in user space", call(SYS_userfaultfd, O_CLOEXEC | 1), {EPERM}, Control::perhaps},
          {"io_uring",
           [] { return failed(::syscall(SYS_io_uring_setup, 1, io_uring_parameters)); },
           {ENOSYS},
           Control::perhaps},
          {"memory that no process has", call(SYS_memfd_create, "x", 0), {ENOSYS}},
          {"a filter of its own", call(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &kAllow), {EPERM}},
          {"the table of segments", call(SYS_modify_ldt, 0, &byte, 1), {EPERM}, Control::perhaps},
          {"compare processes",
           [] { return failed(::syscall(SYS_kcmp, ::getpid(), ::getpid(), 1, 0, 0)); },
           {EPERM},
           Control::perhaps},
          {"another process's descriptor",
           [] {
             int fd = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
             return failed(::syscall(SYS_pidfd_getfd, fd, 1, 0));
           },
           {EPERM}},
          {"another process's limits",
           [] {
             rlimit limit{};
             return failed(::syscall(SYS_prlimit64, ::getpid(), RLIMIT_CORE, nullptr, &limit));
           },
           {ENOSYS}},
          {"another personality", [] { return failed(::personality(ADDR_NO_RANDOMIZE)); }, {ENOSYS}},
          {"an internet socket", socket_of(AF_INET, SOCK_STREAM), {EACCES}},
          {"an IPv6 socket", socket_of(AF_INET6, SOCK_STREAM), {EACCES}, Control::perhaps},
          {"netlink", socket_of(AF_NETLINK, SOCK_RAW), {EACCES}},
          {"raw packets", socket_of(AF_PACKET, SOCK_RAW), {EACCES}, Control::perhaps},
          {"crypto sockets", socket_of(AF_ALG, SOCK_SEQPACKET), {EACCES}, Control::perhaps},
          {"gifted pages",
           [] {
             int ends[2];
             if (::pipe(ends) != 0) return errno;
             return failed(::vmsplice(ends[1], &own, 1, 0));
           },
           {EPERM}},
          {"an ioctl of drivers",
           [] {
             int fd = ::open("/", O_RDONLY | O_CLOEXEC);
             unsigned value = 0;
             return failed(::syscall(SYS_ioctl, fd, 0x80087601, &value));  // FS_IOC_GETVERSION
           },
           {ENOSYS},
           Control::perhaps},
          {"a process control that is not listed",
           [] { return failed(::prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0)); },
           {ENOSYS}},
      });
}

TEST(LayerAlone, WithoutCapabilitiesNothingOfTheMachineCanBeChanged) {
  check_alone(capabilities,
              {
                  {"mount", [] { return failed(::mount("sandkeep-test", "/mnt", "tmpfs", 0, "")); }, {EPERM}},
                  {"new mounts", [] { return failed(::unshare(CLONE_NEWNS)); }, {EPERM}},
                  {"change the root", [] { return failed(::chroot("/")); }, {EPERM}},
                  {"rename the host", [] { return failed(::sethostname("x", 1)); }, {EPERM}},
                  {"raw packets",
                   [] { return failed(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)); },
                   {EPERM},
                   Expected::Control::perhaps},
                  {"a low port",
                   [] {
                     int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
                     sockaddr_in address{};
                     address.sin_family = AF_INET;
                     address.sin_port = htons(80);
                     return failed(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address));
                   },
                   {EACCES}},
                  {"mount, in a program that root starts",
                   [] {
                     pid_t child = ::fork();
                     if (child == 0) {
                       ::execl("/bin/mount", "mount", "-n", "-t", "tmpfs", "sandkeep-test", "/mnt", nullptr);
                       ::_exit(127);
                     }
                     int status = 0;
                     ::waitpid(child, &status, 0);
                     return WEXITSTATUS(status) == 0 ? 0 : EPERM;
                   },
                   {EPERM}},
              });
}

TEST(LayerAlone, LimitsHoldWithoutAControlGroup) {
  ElsewhereFolder folder;
  const auto file = folder / "file";
  sk_go go{};
  go.file_bytes_max = 1000;
  go.open_files_max = 256;
  go.processes_max = 100'000;
  check_alone(limits(go), {
                              {"a file that is too large",
                               [&] {
                                 int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
                                 return ::ftruncate(fd, 0) != 0 ? errno : failed(::ftruncate(fd, 1001));
                               },
                               {EFBIG}},
                              {"too many open files",
                               [] {
                                 for (int i = 0; i < 512; ++i)
                                   if (::dup(0) < 0) return errno;
                                 return 0;
                               },
                               {EMFILE}},
                              {"a longer limit",  // the hard limit goes with the soft one
                               [] {
                                 rlimit limit{.rlim_cur = 512, .rlim_max = 512};
                                 rlimit now{};
                                 if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return errno;
                                 return now.rlim_max <= 256 ? EPERM
                                                            : failed(::setrlimit(RLIMIT_NOFILE, &limit));
                               },
                               {EPERM}},
                              {"a core dump",
                               [] {
                                 rlimit now{};
                                 if (::getrlimit(RLIMIT_CORE, &now) != 0) return errno;
                                 return now.rlim_max == 0 ? EPERM : 0;
                               },
                               {EPERM},
                               Expected::Control::perhaps},
                          });
}

// The kernel does not count the processes of a privileged user, so this one needs a user of its own.
TEST(LayerAlone, TheLimitOfProcessesHoldsWithoutAControlGroup) {
  auto fork_under = [](uint64_t most) {
    pid_t child = ::fork();
    if (child == 0) {
      if (::geteuid() == 0 && ::setresuid(1'900'000'777, 1'900'000'777, 1'900'000'777) != 0)
        ::_exit(kLayerFailed);
      sk_go go{};
      go.file_bytes_max = go.open_files_max = 1000;
      go.processes_max = most;
      sk_fault fault{};
      if (sk_set_rlimits(&go, &fault) != 0) ::_exit(kLayerFailed);
      pid_t second = ::fork();
      if (second == 0) ::_exit(0);
      int result = failed(second);
      if (second > 0) ::waitpid(second, nullptr, 0);
      ::_exit(result);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(fork_under(100'000), 0);
  EXPECT_EQ(fork_under(1), EAGAIN);
}

TEST(LayerAlone, DescriptorsAreClosedWhateverTheirFlags) {
  auto leak = [] { return ::fcntl(0, F_DUPFD, 100) >= 100; };  // without FD_CLOEXEC
  auto look = [] { return ::fcntl(100, F_GETFD) >= 0 ? 0 : errno; };
  if (!namespaces_allowed()) GTEST_SKIP() << "this user may not make user namespaces";
  EXPECT_EQ(run_alone(leak, look), 0);
  auto close_all = [&] {
    sk_fault fault{};
    return leak() && sk_close_from(3, &fault) == 0;
  };
  EXPECT_EQ(run_alone(close_all, look), EBADF);
}

TEST(LayerAlone, NoNewPrivilegesDisarmsProgramsOfRoot) {
  if (!is_root()) GTEST_SKIP() << "only root can make a program of root";
  ElsewhereFolder folder;
  const auto program = folder / "id";
  std::filesystem::copy_file("/usr/bin/id", program);
  ASSERT_EQ(::chmod(program.c_str(), 04755), 0);
  auto is_root_in_it = [&](bool restricted) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid_t child = ::fork();
    if (child == 0) {
      sk_fault fault{};
      if (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0)
        ::_exit(kLayerFailed);
      if (restricted && sk_forbid_new_privileges(&fault) != 0) ::_exit(kLayerFailed);
      ::dup2(ends[1], 1);
      ::execl(program.c_str(), "id", "-u", nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    char text[32] = {};
    auto count = ::read(ends[0], text, sizeof text - 1);
    ::close(ends[0]);
    EXPECT_GT(count, 0);
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
    return std::string(text) == "0\n";
  };
  if (!is_root_in_it(false)) GTEST_SKIP() << "/var/tmp is mounted without set-user-id programs";
  EXPECT_FALSE(is_root_in_it(true));
}

}  // namespace
}  // namespace sk::sandbox
