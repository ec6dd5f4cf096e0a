// The watcher on real folders: what it reports, and that one session's folders cost another nothing.
#include "interpreter/copy/watcher.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "unit/temp_dir.h"

namespace sk::interpreter {
namespace {

namespace fs = std::filesystem;

Id numbered(unsigned char number) {
  Id id;
  id.bytes[15] = static_cast<std::byte>(number);
  return id;
}

// One session's copy.
struct Watched {
  Watched(const TempDir& parent, unsigned char number)
      : session(numbered(number)),
        copy(parent.path() + "/copy" + std::to_string(number), Owner{::geteuid(), ::getegid()}) {}
  std::string at(const std::string& path) const { return copy.directory() + "/" + path; }
  void write(const std::string& path) const { std::ofstream(at(path)) << path; }

  const Id session;
  WorkingCopy copy;
};

size_t open_instances() {
  size_t count = 0;
  for (const auto& item : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (fs::read_symlink(item.path(), gone).string().find("inotify") != std::string::npos) ++count;
  }
  return count;
}

class WatcherTest : public testing::Test {
 protected:
  static void add(Watcher& watcher, const Watched& which, unsigned char principal = 100) {
    watcher.add(which.session, numbered(principal), which.copy);
  }
  TempDir parent;
  Watched one{parent, 1}, two{parent, 2}, three{parent, 3};
};

constexpr Watcher::Options kOptions{.folders_per_copy_max = 100, .own_instances_max = 10};

TEST_F(WatcherTest, EachSessionHasAnInstanceOfItsOwnAndGivesItBack) {
  size_t before = open_instances();
  Watcher watcher(kOptions);
  add(watcher, one);
  add(watcher, two);
  EXPECT_EQ(open_instances(), before + 2);
  one.write("f");
  EXPECT_TRUE(watcher.anything(one.session));
  EXPECT_FALSE(watcher.anything(two.session));
  EXPECT_EQ(watcher.take(one.session).paths, std::set<std::string>{"f"});
  watcher.remove(one.session);
  EXPECT_TRUE(watcher.take(one.session).empty());
  watcher.remove(two.session);
  EXPECT_EQ(open_instances(), before);
}

TEST_F(WatcherTest, WithoutInstancesLeftThoseOfAPrincipalShareOne) {
  size_t before = open_instances();
  Watcher watcher({.folders_per_copy_max = 100, .own_instances_max = 0});
  add(watcher, one, 100);
  add(watcher, two, 100);
  add(watcher, three, 101);
  EXPECT_EQ(open_instances(), before + 2);
  one.write("f");
  two.write("g");
  EXPECT_EQ(watcher.take(two.session).paths, std::set<std::string>{"g"});
  EXPECT_EQ(watcher.take(one.session).paths, std::set<std::string>{"f"});
  EXPECT_TRUE(watcher.take(three.session).empty());
  // The other one's watches stay.
  watcher.remove(one.session);
  two.write("h");
  EXPECT_EQ(watcher.take(two.session).paths, std::set<std::string>{"h"});
  watcher.remove(two.session);
  watcher.remove(three.session);
  EXPECT_EQ(open_instances(), before);
}

TEST_F(WatcherTest, WithoutAnyInstanceTheCopyIsComparedAndWatchedLater) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "UBSan needs descriptors itself to look at objects";
#endif
#endif
  Watcher watcher(kOptions);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none{.rlim_cur = 3, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  add(watcher, one);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(watcher.anything(one.session));
  EXPECT_TRUE(watcher.take(one.session).everything);
  EXPECT_TRUE(watcher.take(one.session).empty());
  one.write("f");
  EXPECT_EQ(watcher.take(one.session).paths, std::set<std::string>{"f"});
}

TEST_F(WatcherTest, NewFoldersAreWatchedFromTheNextTakeOn) {
  Watcher watcher(kOptions);
  add(watcher, one);
  fs::create_directories(one.at("a/b"));
  one.write("a/b/early");  // not watched yet; the caller compares the folder
  auto touched = watcher.take(one.session);
  EXPECT_TRUE(touched.folders.contains("a"));
  EXPECT_FALSE(touched.everything);
  one.write("a/b/late");
  touched = watcher.take(one.session);
  EXPECT_EQ(touched.paths, std::set<std::string>{"a/b/late"});
  EXPECT_TRUE(touched.folders.empty());
}

TEST_F(WatcherTest, AMovedFolderIsReportedUnderItsNewPath) {
  Watcher watcher(kOptions);
  fs::create_directories(one.at("a/b"));
  add(watcher, one);
  fs::rename(one.at("a"), one.at("c"));
  one.write("c/b/f");
  auto touched = watcher.take(one.session);
  EXPECT_TRUE(touched.folders.contains("a"));
  EXPECT_TRUE(touched.folders.contains("c"));
  one.write("c/b/g");
  EXPECT_EQ(watcher.take(one.session).paths, std::set<std::string>{"c/b/g"});
}

TEST_F(WatcherTest, TooManyNamesMakeTheNextCaptureCompareEverything) {
  Watcher watcher(kOptions);
  add(watcher, one);
  // More events than the system queues may be lost as well; that is the same to the caller.
  for (int i = 0; i < 60'000; ++i) {
    std::string name = one.at("f" + std::to_string(i));
    std::ofstream(name).close();
    fs::remove(name);
    if (i % 4'000 == 0) {
      EXPECT_TRUE(watcher.anything(one.session));
    }
  }
  fs::create_directories(one.at("late"));
  auto touched = watcher.take(one.session);
  EXPECT_TRUE(touched.everything);
  EXPECT_LT(touched.paths.size(), 50'001u);
  one.write("late/f");
  touched = watcher.take(one.session);
  EXPECT_TRUE(touched.everything || touched.paths.contains("late/f"));
  one.write("late/g");
  EXPECT_EQ(watcher.take(one.session).paths, std::set<std::string>{"late/g"});
}

TEST_F(WatcherTest, ACopyWithFoldersThatAreTooDeepIsComparedAsAWhole) {
  Watcher watcher({.folders_per_copy_max = 1000, .own_instances_max = 10});
  std::string deep = one.copy.directory();
  for (size_t i = 0; i < kCopyDepthMax + 2; ++i) deep += "/d";
  fs::create_directories(deep);
  add(watcher, one);
  EXPECT_TRUE(watcher.take(one.session).everything);
  EXPECT_TRUE(watcher.take(one.session).everything);
  fs::remove_all(one.at("d"));
  watcher.take(one.session);
  one.write("f");
  EXPECT_FALSE(watcher.take(one.session).everything);
}

}  // namespace
}  // namespace sk::interpreter
