// Control groups of both versions: found in what the kernel says, and, where the host lets us, used for real.
#include "sandbox/cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/fd.h"
#include "sandbox/host.h"
#include "support/temp_folder.h"

namespace sk::sandbox {
namespace {

using test::TempFolder;
using ::testing::ElementsAre;

void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST(CgroupHierarchies, OfVersionOneAreFoundPerController) {
  auto found = parse_hierarchies(
      "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
      "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
      "40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
      "9:name=systemd:/\n4:memory:/jobs/7\n1:cpu,cpuacct:/\n0::/\n");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].own_path, "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_THAT(found[0].controllers, ElementsAre("cpu", "cpuacct"));
  EXPECT_EQ(found[1].own_path, "/sys/fs/cgroup/memory/jobs/7");
  EXPECT_EQ(found[3].version, 2);
  EXPECT_EQ(found[3].own_path, "/sys/fs/cgroup/unified");
}

TEST(CgroupHierarchies, OfVersionTwoAreFoundAlsoBelowTheRootOfAMount) {
  auto found =
      parse_hierarchies("30 23 0:26 /docker/abc /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate\n",
                        "0::/docker/abc/app\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].own_path, "/sys/fs/cgroup/app");
  EXPECT_TRUE(
      parse_hierarchies("30 23 0:26 /other /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/docker/abc\n")
          .empty());
  EXPECT_TRUE(parse_hierarchies("nonsense\n\n", "also: nonsense").empty());
}

// A folder that looks like a group of version 2, as a kernel with such controllers would show it.
class FakeVersion2 {
 public:
  FakeVersion2() { write_text(root_ / "cgroup.controllers", "cpuset cpu io memory pids\n"); }
  CgroupTree tree() {
    prepare("sandkeep-test-server");
    prepare("sandkeep-test");
    write_text(root_ / "cgroup.subtree_control", "");
    return CgroupTree({{2, {}, root_.path(), root_.path()}}, "sandkeep-test");
  }
  std::string path(const std::string& name) const { return root_ / name; }

 private:
  void prepare(const std::string& name) {
    std::filesystem::create_directory(root_ / name);
    for (const char* file : {"cgroup.procs", "cgroup.subtree_control"})
      write_text(root_ / (name + "/" + file), "");
  }
  TempFolder root_;
};

TEST(CgroupVersion2, HandsControllersDownFromALeafForTheServer) {
  FakeVersion2 fake;
  auto tree = fake.tree();
  EXPECT_TRUE(tree.has("memory") && tree.has("pids") && tree.has("cpu") && tree.has("freezer"));
  EXPECT_EQ(read_file(fake.path("sandkeep-test-server/cgroup.procs")), std::to_string(::getpid()));
  EXPECT_NE(read_file(fake.path("cgroup.subtree_control")), "");
  EXPECT_NE(read_file(fake.path("sandkeep-test/cgroup.subtree_control")), "");
}

TEST(CgroupVersion2, WritesItsOwnNamesOfLimitsAndReadsItsOwnFigures) {
  FakeVersion2 fake;
  auto tree = fake.tree();
  auto group = tree.make();
  std::string at = fake.path("sandkeep-test/t-ann/s1/");
  // The kernel would make these files.
  std::filesystem::create_directory(fake.path("sandkeep-test/t-ann"));
  write_text(fake.path("sandkeep-test/t-ann/cgroup.subtree_control"), "");
  EXPECT_ANY_THROW(group->enter_tenant("ann")) << "a folder without files cannot be joined";
  EXPECT_NE(read_file(fake.path("sandkeep-test/t-ann/cgroup.subtree_control")), "") << "handed down again";
  for (const char* file :
       {"memory.max", "memory.swap.max", "pids.max", "cpu.max", "cgroup.procs", "cgroup.freeze", "io.max"})
    write_text(at + file, "");
  SessionLimits limits;
  limits.memory_bytes = 64 << 20;
  limits.processes_max = 17;
  limits.cpu_percent = 150;
  group->set_limits(limits);
  EXPECT_EQ(read_file(at + "memory.max"), "67108864");
  EXPECT_EQ(read_file(at + "memory.swap.max"), "0");
  EXPECT_EQ(read_file(at + "pids.max"), "17");
  EXPECT_EQ(read_file(at + "cpu.max"), "150000 100000");
  group->limit_io("8:0", 1000);
  EXPECT_EQ(read_file(at + "io.max"), "8:0 rbps=1000 wbps=1000");
  group->add(4711);
  EXPECT_EQ(read_file(at + "cgroup.procs"), "4711");
  EXPECT_TRUE(group->freeze());
  EXPECT_EQ(read_file(at + "cgroup.freeze"), "1");
  write_text(at + "memory.current", "1000\n");
  write_text(at + "memory.peak", "2000\n");
  write_text(at + "memory.events", "low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\n");
  write_text(at + "cpu.stat", "usage_usec 1234\nuser_usec 1000\n");
  write_text(at + "pids.current", "5\n");
  write_text(at + "pids.events", "max 6\n");
  Usage usage = group->usage();
  EXPECT_EQ(usage.memory_bytes, 1000u);
  EXPECT_EQ(usage.memory_peak_bytes, 2000u);
  EXPECT_EQ(usage.oom_kills, 2u);
  EXPECT_EQ(usage.cpu_us, 1234u);
  EXPECT_EQ(usage.processes, 5u);
  EXPECT_EQ(usage.processes_refused, 6u);
  std::filesystem::remove_all(at);
  EXPECT_TRUE(group->remove());
}

TEST(CgroupVersion2, LimitsTheMemoryOfAllSessionsTogetherBelowThatOfItsOwnGroup) {
  FakeVersion2 fake;
  write_text(fake.path("memory.max"), "1073741824\n");
  auto tree = fake.tree();
  EXPECT_EQ(tree.memory_bytes(), 1u << 30);
  write_text(fake.path("memory.max"), "max\n");
  EXPECT_GT(tree.memory_bytes(), 0u);
  for (const char* file : {"memory.max", "memory.swap.max"})
    write_text(fake.path("sandkeep-test/") + file, "");
  tree.limit_memory(5000);
  EXPECT_EQ(read_file(fake.path("sandkeep-test/memory.max")), "5000");
}

// A terminal's scope holds other programs too, so only the slice above it can be divided.
TEST(CgroupVersion2, UsesTheNearestGroupAboveThatCanBeDivided) {
  TempFolder root;
  std::string slice = root / "app.slice", scope = slice + "/terminal.scope";
  std::filesystem::create_directories(scope);
  // Files that cannot be written stand for a kernel that refuses: folders in their place.
  std::filesystem::create_directories(scope + "/sandkeep-test-server/cgroup.procs");
  write_text(scope + "/cgroup.controllers", "cpu memory pids\n");
  std::filesystem::create_directories(slice + "/sandkeep-test");
  write_text(slice + "/cgroup.controllers", "cpu memory pids\n");
  write_text(slice + "/cgroup.subtree_control", "memory pids\n");
  write_text(slice + "/sandkeep-test/cgroup.subtree_control", "");
  CgroupTree tree({{2, {}, scope, root.path()}}, "sandkeep-test");
  EXPECT_TRUE(tree.has("memory") && tree.has("pids")) << tree.description();
  EXPECT_FALSE(std::filesystem::exists(scope + "/sandkeep-test"));
}

TEST(SessionsMemory, LeavesRoomForTheServer) {
  constexpr uint64_t kGiB = 1ull << 30;
  EXPECT_EQ(default_sessions_memory(64 * kGiB), 56 * kGiB);
  EXPECT_EQ(default_sessions_memory(4 * kGiB), 3 * kGiB);
  EXPECT_EQ(default_sessions_memory(1 * kGiB), kGiB / 2);
}

TEST(CgroupTree, HasNothingWhereNothingMayBeMade) {
  TempFolder folder;
  write_text(folder / "cgroup.controllers", "");
  CgroupTree tree({{2, {}, folder.path(), folder.path()}, {1, {"memory"}, "/no/such/folder", "/no"}},
                  "sandkeep-test");
  EXPECT_FALSE(tree.has("memory"));
  EXPECT_NE(tree.description(), "");
  auto group = tree.make();
  EXPECT_TRUE(group->enter_tenant("a").empty());
  group->set_limits({});
  group->add(::getpid());
  EXPECT_FALSE(group->freeze());
  EXPECT_EQ(group->usage().memory_bytes, 0u);
  EXPECT_TRUE(group->remove());
}

TEST(CgroupTree, SweepsWhatADeadServerLeft) {
  TempFolder folder;
  std::filesystem::create_directories(folder / "sandkeep-999999999-old/s1");
  std::filesystem::create_directories(folder / ("sandkeep-" + std::to_string(::getpid()) + "-mine/s1"));
  CgroupTree tree({{1, {"memory"}, folder.path(), folder.path()}}, "sandkeep-test");
  EXPECT_FALSE(std::filesystem::exists(folder / "sandkeep-999999999-old"));
  EXPECT_TRUE(std::filesystem::exists(folder / ("sandkeep-" + std::to_string(::getpid()) + "-mine/s1")));
}

TEST(CgroupForReal, LimitsFreezesAndGoes) {
  auto tree = CgroupTree::find();
  if (!tree.has("pids") || !tree.has("freezer")) GTEST_SKIP() << tree.description();
  auto group = tree.make();
  pid_t pid = ::fork();
  if (pid == 0)
    for (;;) ::pause();
  // With version 2, all of a session's groups are below its tenant's.
  std::string number = std::to_string(pid);
  for (const auto& file : group->enter_tenant("ann")) write_all(file.get(), as_bytes(number), "a group");
  group->add(pid);
  group->set_limits({});
  EXPECT_THAT(group->processes(), ElementsAre(pid));
  EXPECT_EQ(group->usage().processes, 1u);
  EXPECT_TRUE(group->freeze());
  EXPECT_FALSE(group->remove()) << "somebody lives in it";
  ::kill(pid, SIGKILL);
  EXPECT_TRUE(group->thaw());
  ::waitpid(pid, nullptr, 0);
  for (int i = 0; i < 1000 && !group->remove(); ++i) ::usleep(1000);
  EXPECT_TRUE(group->remove());
}

TEST(CgroupForReal, ATenantsFolderGoesWithItsLastSession) {
  auto tree = CgroupTree::find();
  if (!tree.has("cpu")) GTEST_SKIP() << tree.description();
  auto one = tree.make(), other = tree.make();
  auto files = one->enter_tenant("ann");
  other->enter_tenant("ann");
  ASSERT_FALSE(files.empty());
  pid_t pid = ::fork();
  if (pid == 0) {
    for (const auto& file : files)
      if (::write(file.get(), "0", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  std::string groups;
  for (int i = 0; i < 5000 && groups.find("/t-ann/s") == std::string::npos; ++i, ::usleep(1000))
    groups = read_file("/proc/" + std::to_string(pid) + "/cgroup");
  EXPECT_NE(groups.find("/t-ann/s"), std::string::npos) << groups;
  EXPECT_TRUE(other->remove());
  EXPECT_FALSE(one->remove());
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  for (int i = 0; i < 1000 && !one->remove(); ++i) ::usleep(1000);
  EXPECT_TRUE(one->remove());
  auto again = tree.make();
  EXPECT_FALSE(again->enter_tenant("ann").empty());
}

TEST(CgroupForReal, OfVersionTwoFreezesWithoutAnyController) {
  // Hosts that mix both versions have a second one without controllers; groups can be made and frozen there.
  for (const auto& hierarchy :
       parse_hierarchies(read_file("/proc/self/mountinfo"), read_file("/proc/self/cgroup"))) {
    if (hierarchy.version != 2) continue;
    std::string path = hierarchy.own_path + "/sandkeep-test-" + std::to_string(::getpid());
    if (::mkdir(path.c_str(), 0755) != 0) continue;
    EXPECT_TRUE(std::filesystem::exists(path + "/cgroup.freeze"));
    EXPECT_TRUE(std::filesystem::exists(path + "/cgroup.procs"));
    ::rmdir(path.c_str());
    return;
  }
  GTEST_SKIP() << "no version 2 here that this user may use";
}

}  // namespace
}  // namespace sk::sandbox
