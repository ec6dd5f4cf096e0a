// The helper that keeps the server's privileges, what a launcher may be asked for, and what the server gives
// up.
#include "sandbox/privileged.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <csignal>

#include <gmock/gmock.h>

#include "sandbox/seccomp_policy.h"
#include "sandbox/server_confinement.h"
#include "sandbox/zygote.h"
#include "support/expect_error.h"
#include "unit/sandbox/harness.h"

extern "C" {
#include "sandbox/inside/common.h"
}

namespace sk::sandbox {
namespace {

using namespace testing;
using ::testing::HasSubstr;

LauncherPlan plan_below(const std::string& data_root) {
  auto cgroups = CgroupTree::find();
  auto findings = examine_host(cgroups, data_root);
  return {.layers = findings.layer_bits,
          .runtime_root = "/",
          .python = "/usr/bin/python3",
          .data_root = data_root,
          .extra_dirs = {},
          .ids = findings.ids,
          .filter = compile_seccomp_policy({})};
}

TEST(PrivilegedHelper, TellsTheSameAsThisProcess) {
  TempFolder folder;
  auto helper = privileged_helper({});
  auto here = privileged_here({});
  // More files than one answer holds.
  std::vector<Fd> open;
  for (int i = 0; i < 200; ++i)
    open.push_back(open_file(folder / std::to_string(i), O_RDWR | O_CREAT | O_CLOEXEC));
  write_all(open[0].get(), as_bytes("bytes"), "a file");
  std::filesystem::remove(folder / "0");
  struct stat info{};
  ::fstat(open[0].get(), &info);

  auto written = helper->files_written_by(::getpid());
  EXPECT_EQ(written, here->files_written_by(::getpid()));
  EXPECT_GE(written.size(), 200u);
  auto deleted = helper->deleted_files_of(::getpid(), info.st_dev);
  ASSERT_FALSE(deleted.empty());
  EXPECT_EQ(deleted.size(), here->deleted_files_of(::getpid(), info.st_dev).size());
  EXPECT_EQ(deleted[0].inode, info.st_ino);
  EXPECT_TRUE(helper->files_written_by(0x7ffffff0).empty());
}

TEST(PrivilegedHelper, StartsOnlyLaunchersOfItsPlans) {
  TempFolder folder;
  auto helper = privileged_helper({plan_below(folder.path())});
  test::expect_error(Code::internal, [&] { helper->start_launcher(1); });
  Launcher launcher(helper->start_launcher(0));
  EXPECT_TRUE(launcher.alive());
}

TEST(PrivilegedHelper, RunsSessions) {
  auto prepared = prepare_host({.data_root = parent_of_folders(), .pool_size = 0}, Privileges::in_helper);
  Metrics metrics;
  SandboxHost host(std::move(prepared), metrics);
  TestSession session(SessionLimits{}, host);
  EXPECT_EQ(session.run("1 + 1").result(), "2");
}

TEST(LauncherRules, RefuseFoldersElsewhereAndOtherUsers) {
  TempFolder above;
  std::string root = above / "root";
  for (const char* name : {"root", "root/in", "root-not", "elsewhere"})
    std::filesystem::create_directory(above / name);
  std::filesystem::create_symlink(above / "elsewhere", root + "/link");
  auto plan = plan_below(root);
  Launcher launcher(start_launcher(plan));
  auto open = [&](const std::string& path) {
    Fd folder = open_file(path, O_PATH | O_DIRECTORY);
    launcher.open_tree(path, folder.get(), Launcher::Access::read_only, -1);
  };
  EXPECT_NO_THROW(open(root + "/in"));
  for (const auto& path : {above / "elsewhere", above / "root-not", root, root + "/link", root + "/..",
                           root + "/in/../..", std::string("/"), std::string("/usr")})
    EXPECT_THAT(test::expect_error(Code::internal, [&] { open(path); }), HasSubstr("cannot")) << path;

  for (uint32_t uid : {plan.ids.session + 100'000, plan.ids.first + plan.ids.count + 1, ~0u}) {
    Pair control = packet_sockets();
    test::expect_error(Code::internal, [&] { launcher.start_init(uid, control.theirs.get()); });
  }
}

TEST(LauncherRules, HoldForTheLifeOfALauncher) {
  TempFolder root;
  auto process = start_launcher(plan_below(root.path()));
  sk_launcher_request request{};
  request.op = SK_OP_SETUP;
  Fd any = open_file("/dev/null", O_RDONLY);
  const int fds[] = {any.get(), any.get(), any.get()};
  ASSERT_TRUE(send_packet(process.socket.get(), request, fds));
  sk_launcher_reply reply{};
  std::vector<Fd> none;
  ASSERT_TRUE(receive_packet(process.socket.get(), reply, none, kPatienceMs));
  EXPECT_EQ(reply.fault.step, SK_STEP_request);
}

class ZygoteRules : public ::testing::Test {
 protected:
  struct Ends {
    Pair gate = packet_sockets(), channel = stream_sockets(), output = output_pipe(), errors = output_pipe();
  };
  // An init that has done its steps.
  Launcher::Started start_init(Launcher& from) {
    Pair control = packet_sockets();
    auto init = from.start_init(uid, control.theirs.get());
    sk_init_report report{};
    std::vector<Fd> none;
    EXPECT_TRUE(receive_packet(control.ours.get(), report, none, kPatienceMs));
    EXPECT_EQ(report.fault.step, 0);
    controls.push_back(std::move(control.ours));
    return init;
  }
  Zygote::Child fork_into(int init_pidfd, const Ends& ends) {
    const std::array fds = {init_pidfd, ends.gate.theirs.get(), ends.channel.theirs.get(),
                            ends.output.theirs.get(), ends.errors.theirs.get()};
    return zygote.fork(Zygote::Urgency::somebody_waits, fds);
  }
  static Fd pidfd_of(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

  TempFolder root;
  const LauncherPlan plan = plan_below(root.path());
  const uint32_t uid = plan.ids.count > 0 ? plan.ids.first + 1 : plan.ids.session;
  Launcher launcher{start_launcher(plan)};
  Zygote zygote{launcher};
  std::vector<Fd> controls;
};

TEST_F(ZygoteRules, ASessionJoinsOnlyAnInitOfItsLauncher) {
  ASSERT_TRUE(zygote.wait_ready(kPatienceMs));
  Launcher other(start_launcher(plan));
  auto own = start_init(launcher), foreign = start_init(other);
  Ends ends;
  test::expect_error(Code::internal, [&] { fork_into(foreign.pidfd.get(), ends); });
  test::expect_error(Code::internal, [&] { fork_into(pidfd_of(::getpid()).get(), ends); });
  test::expect_error(Code::internal, [&] { fork_into(pidfd_of(1).get(), ends); });
  test::expect_error(Code::internal, [&] { fork_into(launcher.ended_fd(), ends); });
  test::expect_error(Code::internal, [&] { fork_into(ends.gate.ours.get(), ends); });
  Fd no_namespace = open_file("/dev/null", O_RDONLY);
  test::expect_error(Code::internal, [&] { fork_into(no_namespace.get(), ends); });
  auto main = fork_into(own.pidfd.get(), ends);
  EXPECT_GT(main.pid, 0);
  test::expect_error(Code::internal, [&] { fork_into(main.pidfd.get(), ends); });
}

TEST_F(ZygoteRules, ASessionHasTheUserOfItsInit) {
  if (plan.ids.count < 2) GTEST_SKIP() << "all sessions of an ordinary user have its id";
  ASSERT_TRUE(zygote.wait_ready(kPatienceMs));
  auto init = start_init(launcher);
  Ends ends;
  auto main = fork_into(init.pidfd.get(), ends);
  sk_go go{};
  go.uid = uid + 1;
  Fd folder = open_file(root.path(), O_PATH | O_DIRECTORY);
  int fd = folder.get();
  ASSERT_TRUE(send_packet(ends.gate.ours.get(), go, std::span(&fd, 1)));
  sk_fault fault{};
  std::vector<Fd> none;
  ASSERT_TRUE(receive_packet(ends.gate.ours.get(), fault, none, kPatienceMs));
  EXPECT_EQ(fault.step, SK_STEP_go);
}

// Runs `attempt` in a confined process. Returns its errno, or 0 on success.
int confined(const std::string& data_folder, const std::function<int()>& attempt) {
  pid_t pid = ::fork();
  if (pid == 0) {
    int result = 255;
    try {
      confine_server({.data_folder = data_folder, .control_groups = {}});
      result = attempt() < 0 ? errno : 0;
    } catch (const Error&) {
    }
    ::_exit(result);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

TEST(ServerConfinement, LeavesWhatAServerNeedsAndNothingElse) {
  TempFolder data, elsewhere;
  std::filesystem::create_directory(elsewhere / "disk");
  std::filesystem::create_symlink(elsewhere / "disk", data / "blobs");
  auto create = [](const std::string& path) {
    return [path] { return ::open(path.c_str(), O_CREAT | O_WRONLY, 0600); };
  };
  EXPECT_EQ(confined(data.path(), create(data / "a")), 0);
  EXPECT_EQ(confined(data.path(), create(data / "blobs/a")), 0);
  EXPECT_EQ(confined(data.path(), [] { return ::socket(AF_INET6, SOCK_STREAM, 0); }), 0);
  EXPECT_EQ(confined(data.path(), [] { return ::open("/etc/passwd", O_RDONLY); }), 0);
  if (sk_landlock_abi() >= 1) {
    EXPECT_EQ(confined(data.path(), create(elsewhere / "a")), EACCES);
    EXPECT_EQ(confined(data.path(), [&] { return ::mkdir((elsewhere / "b").c_str(), 0700); }), EACCES);
    EXPECT_EQ(confined(data.path(), [&] { return ::rmdir((elsewhere / "disk").c_str()); }), EACCES);
  }
  char* const none[] = {nullptr};
  EXPECT_EQ(confined(data.path(), [&] { return ::execve("/bin/true", none, none); }), EPERM);
  EXPECT_EQ(confined(data.path(), [] { return ::unshare(CLONE_NEWUSER); }), EPERM);
  EXPECT_EQ(confined(data.path(), [] { return ::socket(AF_PACKET, SOCK_RAW, 0); }), ENOSYS);
  EXPECT_EQ(confined(data.path(), [] { return static_cast<int>(::syscall(SYS_io_uring_setup, 1, nullptr)); }),
            ENOSYS);
  // An ordinary user cannot change the bounding set, and has no capabilities.
  auto has = [&](int capability) {
    return confined(data.path(), [=] {
             errno = EPERM;
             return ::prctl(PR_CAPBSET_READ, capability) == 1 ? 0 : -1;
           }) == 0;
  };
  if (::geteuid() != 0) return;
  for (int capability : {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_KILL}) EXPECT_TRUE(has(capability));
  for (int capability : {CAP_SYS_ADMIN, CAP_SYS_PTRACE, CAP_SETUID, CAP_NET_ADMIN, CAP_NET_BIND_SERVICE})
    EXPECT_FALSE(has(capability)) << capability;
}

}  // namespace
}  // namespace sk::sandbox
