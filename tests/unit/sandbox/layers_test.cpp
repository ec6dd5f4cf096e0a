// Which layers there are, what happens without them, and what they are made of.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>

#include <set>

#include "sandbox/doctor.h"
#include "sandbox/embedded.h"
#include "sandbox/seccomp_policy.h"
#include "support/expect_error.h"
#include "unit/sandbox/harness.h"

extern "C" {
#include "sandbox/inside/common.h"
}

namespace sk::sandbox {
namespace {

using namespace testing;
using ::testing::HasSubstr;

TEST(UserIds, AreChosenOutsideTheRangesInUse) {
  EXPECT_EQ(choose_first_id("         0          0 4294967295\n", 8192), 1'900'000'000u);
  EXPECT_EQ(choose_first_id("0 100000 65536\n", 8192), 40'000u);
  EXPECT_EQ(choose_first_id("0 1000 1\n", 8192), 0u);
  EXPECT_EQ(choose_first_id("", 8192), 0u);
}

TEST(UserIds, AreGivenToOneSessionAtATime) {
  UserIdPlan plan;
  plan.first = 100;
  plan.count = 3;
  UserIds ids(plan);
  std::set<uint32_t> taken{ids.acquire(), ids.acquire(), ids.acquire()};
  EXPECT_EQ(taken, (std::set<uint32_t>{101, 102, 103}));
  test::expect_error(Code::too_many_requests, [&] { ids.acquire(); });
  ids.release(102);
  EXPECT_EQ(ids.acquire(), 102u);
}

TEST(Report, TellsWhatIsMissingFromWhatIsMerelyUseful) {
  Report report;
  report.layers = {{"a", true, Need::always, "", ""}, {"b", false, Need::useful, "", "buy one"}};
  EXPECT_TRUE(report.complete());
  report.layers.push_back({"c", false, Need::required, "", ""});
  EXPECT_FALSE(report.complete());
  EXPECT_TRUE(report.possible());
  EXPECT_EQ(report.missing(), "c");
  report.layers[0].present = false;
  EXPECT_FALSE(report.possible());
}

TEST(Report, ExactLimitsOrThePermissionOfTheOperatorAreNeeded) {
  Report report;
  report.layers = {{"limits by control groups", false, Need::exact, "", ""}};
  EXPECT_TRUE(report.complete()) << "they are no layer that a weak sandbox could do without";
  test::expect_error(Code::unavailable, [&] { require_exact_limits(report, std::nullopt); });
  require_exact_limits(report, ApproximateLimitsAllowed::by_operator());
  report.limits_are_exact = true;
  require_exact_limits(report, std::nullopt);
}

TEST(Doctor, FindsEveryLayerOfThisHostAndAdvisesOnTheRest) {
  test::TempFolder folder;
  Report report = SandboxHost::doctor(folder.path());
  EXPECT_TRUE(report.possible());
  EXPECT_GE(report.layers.size(), 7u);
  for (const auto& layer : report.layers) EXPECT_EQ(layer.present, layer.advice.empty()) << layer.name;
  EXPECT_EQ(report.is_root, is_root());
}

// A host with fewer layers than this one.
class LesserHost {
 public:
  explicit LesserHost(uint32_t without)
      : cgroups_(CgroupTree::find()), findings_(examine_host(cgroups_, root_.path())), ids_(findings_.ids) {
    findings_.layer_bits &= ~without;
    privileged_ = privileged_here({{.layers = findings_.layer_bits,
                                    .runtime_root = "/",
                                    .python = "/usr/bin/python3",
                                    .data_root = parent_of_folders(),
                                    .extra_dirs = {},
                                    .ids = findings_.ids,
                                    .filter = compile_seccomp_policy({})}});
    nursery_ = std::make_unique<Nursery>(Nursery::Options{.pool_size = 0},
                                         Nursery::Shared{findings_, cgroups_, ids_, metrics_, *privileged_});
  }
  bool has(uint32_t layer) const { return (findings_.layer_bits & layer) != 0; }

  std::string run(const std::string& code) {
    auto plan = ids_.plan();
    EXPECT_EQ(::chown(root_.path().c_str(), plan.owner_uid, plan.owner_gid), 0);
    SessionSpec spec;
    spec.data_dir = root_.path();
    Recorder events;
    Kernel kernel(nursery_->start(spec), events);
    kernel.execute("x", code);
    while (!events.cell.done && !events.cell.ended) {
      EXPECT_TRUE(wait_readable(kernel.poll_fd(), kPatienceMs));
      kernel.on_ready();
    }
    return events.cell.output + (events.cell.raised.empty() ? "" : events.cell.raised[0].traceback);
  }

 private:
  test::TempFolder root_;
  Metrics metrics_;
  CgroupTree cgroups_;
  Findings findings_;
  UserIds ids_;
  std::unique_ptr<Privileged> privileged_;
  std::unique_ptr<Nursery> nursery_;
};

TEST(WeakSandbox, RunsWithoutTheLayersThatAreMissing) {
  LesserHost host(SK_LAYER_OWN_USER_NAMESPACE | SK_LAYER_LANDLOCK | SK_LAYER_CGROUP_NAMESPACE |
                  SK_LAYER_SECCOMP | SK_LAYER_IPC_UTS_NAMESPACES);
  EXPECT_EQ(host.run("print([l.split()[1] for l in open('/proc/self/status') if l.startswith(('Seccomp:', "
                     "'NoNewPrivs', 'CapBnd'))])"),
            "['0000000000000000', '1', '0']\n");
}

TEST(WeakSandbox, WithoutOwnFilterStillHasNoNetwork) {
  LesserHost host(SK_LAYER_SECCOMP | SK_LAYER_LANDLOCK);
  EXPECT_THAT(host.run("import socket\ns = socket.socket()\ns.settimeout(2)\ns.connect(('1.1.1.1', 80))"),
              HasSubstr("Network is unreachable"));
}

// Namespaces one by one: the layers that a host may lack are all off but one. What refuses then is that one,
// or the mounts and the pid namespace that every session has. The same code without it is the comparison.
constexpr uint32_t kOptional = SK_LAYER_OWN_USER_NAMESPACE | SK_LAYER_NETWORK_NAMESPACE |
                               SK_LAYER_CGROUP_NAMESPACE | SK_LAYER_IPC_UTS_NAMESPACES | SK_LAYER_LANDLOCK |
                               SK_LAYER_SECCOMP;

LesserHost only(uint32_t layers) { return LesserHost(kOptional & ~layers); }

// Starting Python takes a second or two, so the comparison is made once.
LesserHost& bare() {
  static LesserHost host(kOptional);
  return host;
}

constexpr const char* kAttempt =
    "import errno, os, socket\n"
    "def attempt(action):\n"
    "    try:\n"
    "        action()\n"
    "        return 'done'\n"
    "    except OSError as error:\n"
    "        return errno.errorcode[error.errno]\n";

TEST(LayerAlone, MountsShowAReadOnlyRootAndNothingOfTheHost) {
  LesserHost& host = bare();
  EXPECT_EQ(host.run(std::string(kAttempt) +
                     "print(attempt(lambda: open('/new', 'w')), attempt(lambda: os.mkdir('/usr/new')), "
                     "attempt(lambda: os.unlink('/etc/passwd')), attempt(lambda: os.chmod('/usr', 0o777)))\n"
                     "print([p for p in ('/etc/shadow', '/root', '/var/lib/dpkg', '/boot', '/srv') if "
                     "os.path.exists(p)])"),
            "EROFS EROFS EROFS EROFS\n[]\n");
}

TEST(LayerAlone, ThePidNamespaceHidesEveryProcessOutside) {
  LesserHost& host = bare();
  EXPECT_EQ(host.run(std::string(kAttempt) + "print(attempt(lambda: os.kill(" + std::to_string(::getpid()) +
                     ", 0)), len([p for p in os.listdir('/proc') if p.isdigit()]) <= 2)"),
            "ESRCH True\n");
}

TEST(LayerAlone, TheNetworkNamespaceReachesNotEvenThisMachine) {
  Fd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listening.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listening.get(), 8), 0);
  ASSERT_EQ(::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  auto code = std::string(kAttempt) + "print(attempt(lambda: socket.create_connection(('127.0.0.1', " +
              std::to_string(ntohs(address.sin_port)) + "), 5)))";
  LesserHost with = only(SK_LAYER_NETWORK_NAMESPACE);
  LesserHost& without = bare();
  if (!with.has(SK_LAYER_NETWORK_NAMESPACE)) GTEST_SKIP() << "this host has no network namespaces";
  EXPECT_EQ(without.run(code), "done\n");
  EXPECT_EQ(with.run(code), "ENETUNREACH\n");
}

TEST(LayerAlone, TheIpcAndUtsNamespacesAreTheSessionsOwn) {
  const key_t key = 0x5a4d0000 | (::getpid() & 0xffff);
  int segment = ::shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0666);
  ASSERT_GE(segment, 0);
  auto code = std::string(kAttempt) +
              "import ctypes\n"
              "libc = ctypes.CDLL(None, use_errno=True)\n"
              "found = libc.shmget(" +
              std::to_string(key) + ", 0, 0)\nprint(found >= 0, os.uname().nodename)";
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  LesserHost with = only(SK_LAYER_IPC_UTS_NAMESPACES);
  LesserHost& without = bare();
  std::string inside = with.run(code), outside = without.run(code);
  ::shmctl(segment, IPC_RMID, nullptr);
  if (!with.has(SK_LAYER_IPC_UTS_NAMESPACES)) GTEST_SKIP() << "this host has no IPC and UTS namespaces";
  EXPECT_EQ(inside, "False sandkeep\n");
  EXPECT_THAT(outside, ::testing::StartsWith("True"));
}

// alone_test.cpp shows what these layers refuse; here, that a session has them.
TEST(LayerAlone, LandlockIsOnInASession) {
  auto code = std::string(kAttempt) +
              "s = socket.socket()\n"
              "print(attempt(lambda: s.bind(('127.0.0.1', 0))))";
  LesserHost with = only(SK_LAYER_LANDLOCK);
  if (!with.has(SK_LAYER_LANDLOCK) || sk_landlock_abi() < 4)
    GTEST_SKIP() << "this kernel's Landlock does not know TCP";
  EXPECT_EQ(bare().run(code), "done\n");
  EXPECT_EQ(with.run(code), "EACCES\n");
}

TEST(LayerAlone, TheFilterIsOnInASession) {
  auto code =
      std::string(kAttempt) +
      "print(attempt(lambda: socket.socket()), attempt(lambda: os.memfd_create('x')), [l.split()[1] for l in "
      "open('/proc/self/status') if l.startswith('Seccomp:')])";
  LesserHost with = only(SK_LAYER_SECCOMP);
  if (!with.has(SK_LAYER_SECCOMP)) GTEST_SKIP() << "this kernel has no filters";
  EXPECT_EQ(bare().run(code), "done done ['0']\n");
  EXPECT_THAT(with.run(code), ::testing::StartsWith("EACCES "));
}

TEST(LayerAlone, CapabilitiesAndLimitsAreGoneWithoutAnyOtherLayer) {
  EXPECT_EQ(
      bare().run(
          "import resource\n"
          "print({l.split()[1].strip('0') for l in open('/proc/self/status') if l.startswith('Cap')},\n"
          "      resource.getrlimit(resource.RLIMIT_CORE), resource.getrlimit(resource.RLIMIT_RTPRIO),\n"
          "      resource.getrlimit(resource.RLIMIT_FSIZE)[1] > 0, "
          "resource.getrlimit(resource.RLIMIT_NPROC)[1] > 0)"),
      "{''} (0, 0) (0, 0) True True\n");
}

// The launcher has namespaces of its own, too: a session that was left in those would look well from inside,
// and share them with its neighbours.
TEST(LayerAlone, EveryNamespaceOfASessionIsItsOwn) {
  test::TempFolder folder;
  const uint32_t layers = examine_host(CgroupTree::find(), folder.path()).layer_bits;
  const std::pair<std::string, uint32_t> kinds[] = {{"net", SK_LAYER_NETWORK_NAMESPACE},
                                                    {"ipc", SK_LAYER_IPC_UTS_NAMESPACES},
                                                    {"uts", SK_LAYER_IPC_UTS_NAMESPACES},
                                                    {"pid", layers},
                                                    {"mnt", layers},
                                                    {"user", SK_LAYER_OWN_USER_NAMESPACE},
                                                    {"cgroup", SK_LAYER_CGROUP_NAMESPACE}};
  TestSession one, two;
  for (const auto& [kind, layer] : kinds) {
    if ((layers & layer) == 0) continue;  // this host has none
    auto code = "import os; print(os.readlink('/proc/self/ns/" + kind + "'))";
    auto here = std::filesystem::read_symlink("/proc/self/ns/" + kind).string() + "\n";
    auto first = one.run(code).output, second = two.run(code).output;
    EXPECT_TRUE(first.starts_with(kind + ":[")) << first;
    EXPECT_NE(first, second);
    EXPECT_NE(first, here);
    EXPECT_NE(second, here);
  }
}

TEST(LayerAlone, TheUserNamespaceOfASessionHasOneUser) {
  LesserHost with = only(SK_LAYER_OWN_USER_NAMESPACE);
  if (!with.has(SK_LAYER_OWN_USER_NAMESPACE)) GTEST_SKIP() << "this host has no user namespaces";
  EXPECT_EQ(with.run("import os\nprint(os.getuid(), open('/proc/self/uid_map').read().split()[::2], "
                     "open('/proc/self/setgroups').read())"),
            "1000 ['1000', '1'] deny\n\n");
}

TEST(LayerAlone, TheControlGroupNamespaceShowsNoPath) {
  LesserHost with = only(SK_LAYER_CGROUP_NAMESPACE);
  if (!with.has(SK_LAYER_CGROUP_NAMESPACE)) GTEST_SKIP() << "this host has no cgroup namespaces";
  EXPECT_EQ(with.run("print({line.rsplit(':', 1)[1].strip() for line in open('/proc/self/cgroup')})"),
            "{'/'}\n");
}

TEST(WeakSandbox, IsRefusedUnlessTheOperatorAllowsIt) {
  Report report;
  report.layers = {{"network namespace", false, Need::required, "", "fix it"}};
  test::expect_error(Code::unavailable, [&] { require_layers(report, std::nullopt); });
  EXPECT_NO_THROW(require_layers(report, WeakSandboxAllowed::by_operator()));
  report.layers[0].need = Need::always;
  test::expect_error(Code::unavailable, [&] { require_layers(report, WeakSandboxAllowed::by_operator()); });
}

TEST(SeccompPolicy, CompilesToAProgramThatTheKernelTakes) {
  for (bool uncounted : {false, true}) {
    auto program = compile_seccomp_policy({.uncounted_memory = uncounted});
    EXPECT_EQ(program.size() % sizeof(sock_filter), 0u);
    EXPECT_GT(program.size() / sizeof(sock_filter), 100u);
  }
  EXPECT_NE(compile_seccomp_policy({.uncounted_memory = true}),
            compile_seccomp_policy({.uncounted_memory = false}));
}

// Runtimes bring their own libc: the library may depend on none, and on no symbol version.
TEST(EmbeddedLibrary, NeedsNoParticularLibc) {
  auto library = embedded_library();
  ASSERT_GT(library.size(), sizeof(Elf64_Ehdr));
  Elf64_Ehdr header;
  std::memcpy(&header, library.data(), sizeof header);
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, library.data() + header.e_phoff + static_cast<size_t>(i) * sizeof segment,
                sizeof segment);
    if (segment.p_type != PT_DYNAMIC) continue;
    for (size_t at = segment.p_offset; at < segment.p_offset + segment.p_filesz; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      std::memcpy(&entry, library.data() + at, sizeof entry);
      EXPECT_NE(entry.d_tag, DT_NEEDED);
      EXPECT_NE(entry.d_tag, DT_VERNEED);
    }
  }
}

}  // namespace
}  // namespace sk::sandbox
