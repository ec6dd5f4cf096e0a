// Which layers there are, what happens without them, and what they are made of.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>

#include <set>

#include "sandbox/doctor.h"
#include "sandbox/embedded.h"
#include "sandbox/seccomp_policy.h"
#include "support/expect_error.h"
#include "unit/sandbox/harness.h"

namespace sk::sandbox {
namespace {

using namespace testing;
using ::testing::HasSubstr;

TEST(UserIds, LieWhereNobodyElseTakesThem) {
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
    nursery_ = std::make_unique<Nursery>(Nursery::Options{.pool_size = 0},
                                         Nursery::Shared{findings_, cgroups_, ids_, metrics_});
  }
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
