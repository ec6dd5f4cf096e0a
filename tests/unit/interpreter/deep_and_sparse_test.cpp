// Files and folders that cost more than they seem to: chains of folders, and files of holes.
#include <fcntl.h>
#include <sys/stat.h>

#include "interpreter/copy/contents.h"
#include "interpreter/copy/removal.h"
#include "unit/interpreter/copy_fixture.h"

namespace sk::interpreter {
namespace {

namespace fs = std::filesystem;

// Makes folders inside each other, as code can with chdir(); paths this long cannot be named. Returns a
// descriptor of the innermost one.
Fd make_chain(const std::string& top, size_t levels, const char* name = "d") {
  Fd at = sk::open_file(top, O_PATH | O_DIRECTORY);
  for (size_t level = 0; level < levels; ++level) {
    EXPECT_EQ(::mkdirat(at.get(), name, 0755), 0);
    at = Fd(::openat(at.get(), name, O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  return at;
}

std::string chain_path(size_t levels) {
  std::string path = "d";
  for (size_t level = 1; level < levels; ++level) path += "/d";
  return path;
}

class DeepTest : public CopyTest {
 protected:
  // Programs that use paths cannot remove what is here.
  void TearDown() override { copy.remove_all(); }

  Settled settle_all() {
    Touched touched;
    touched.everything = true;
    return capture.settle(touched, {}, as());
  }
  void write_in(const Fd& folder, const std::string& content) {
    Fd file(::openat(folder.get(), "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    write_all(file.get(), as_bytes(content), "a test");
  }

  WorkingCopy copy{context.directory + "/" + session.id.hex(), context.owner};
  Manifest manifest{keep.context(), session.key()};
  Capture capture{keep, copy, manifest, session.folder, context.file_bytes_max};
};

TEST_F(DeepTest, WhatLiesTooDeepIsNamedAndNotKept) {
  write_in(make_chain(copy.directory(), 1'200), "deep");
  auto settled = settle_all();
  EXPECT_EQ(settled.folders.size(), kCopyDepthMax + 1);
  ASSERT_EQ(settled.not_kept.size(), 1u);
  EXPECT_EQ(settled.not_kept[0].path, "s/" + chain_path(kCopyDepthMax + 2));
  EXPECT_EQ(settled.not_kept[0].reason, UnkeptReason::too_deep);
  EXPECT_TRUE(settled.not_kept[0].only_copy);
  ASSERT_EQ(capture.refused().size(), 1u);
  EXPECT_TRUE(capture.refused()[0].only_copy);
}

TEST_F(DeepTest, TheDeepestFilesThatFitAreKept) {
  write_in(make_chain(copy.directory(), kCopyDepthMax), "kept");
  write_in(make_chain(copy.directory() + "/d", kCopyDepthMax, "e"), "not kept");
  auto settled = settle_all();
  ASSERT_EQ(settled.kept.size(), 1u);
  EXPECT_EQ(kept("s/" + chain_path(kCopyDepthMax) + "/f"), "kept");
  ASSERT_EQ(settled.not_kept.size(), 1u);
  EXPECT_EQ(settled.not_kept[0].reason, UnkeptReason::too_deep);
  EXPECT_TRUE(settled.not_kept[0].path.ends_with("/e/f"));
}

TEST_F(DeepTest, WhatWasTooDeepIsKeptOnceItIsMovedUp) {
  write_in(make_chain(copy.directory(), kCopyDepthMax + 10), "deep");
  settle_all();
  fs::rename(copy.directory() + "/" + chain_path(20), copy.directory() + "/up");
  auto settled = settle_all();
  ASSERT_EQ(settled.kept.size(), 1u);
  EXPECT_TRUE(settled.not_kept.empty());
  EXPECT_TRUE(capture.refused().empty());
}

TEST_F(DeepTest, AKnownFileThatCodeMovedTooDeepIsNotTakenForDeleted) {
  make_chain(copy.directory(), kCopyDepthMax - 2);
  write("tree/x/y/z/f", "precious");
  settle_all();
  fs::rename(copy.directory() + "/tree", copy.directory() + "/" + chain_path(kCopyDepthMax - 2) + "/tree");
  auto settled = settle_all();
  EXPECT_TRUE(settled.deleted.empty());
  EXPECT_TRUE(settled.not_kept.empty());
  std::string now = chain_path(kCopyDepthMax - 2) + "/tree/x/y/z/f";
  EXPECT_EQ(kept("s/" + now), "precious");
  std::ofstream(on_disk(now)) << "changed there";
  settle_all();
  EXPECT_EQ(kept("s/" + now), "changed there");
  fs::remove(on_disk(now));
  EXPECT_EQ(settle_all().deleted.size(), 1u);
}

TEST_F(DeepTest, ACopyOfAnyDepthIsRemoved) {
  make_chain(copy.directory(), 1'200);  // more than descriptors that a process usually has
  make_chain(copy.directory(), 300, "other");
  write("d/d/e/f", "x");
  fs::permissions(copy.directory() + "/d/d", fs::perms(0));
  copy.remove_all();
  EXPECT_FALSE(fs::exists(copy.directory()));
  EXPECT_TRUE(fs::is_empty(context.directory + "/.aside"));
}

TEST_F(DeepTest, RemainsOfARemovalAreClearedAtTheNextStart) {
  make_chain(context.directory + "/.aside", 1'200, "remains");
  WorkingCopy::clear_aside(context.directory);
  EXPECT_TRUE(fs::is_empty(context.directory + "/.aside"));
}

class SparseTest : public DeepTest {
 protected:
  uint64_t allocated(const std::string& path) const {
    struct stat st{};
    EXPECT_EQ(::stat(on_disk(path).c_str(), &st), 0);
    return static_cast<uint64_t>(st.st_blocks) * 512;
  }
  // Data in a file of holes: at its start, in the middle, or at the end.
  void make_sparse(const std::string& path, off_t size, const std::vector<off_t>& data) {
    Fd file(::open(on_disk(path).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    ASSERT_EQ(::ftruncate(file.get(), size), 0);
    for (off_t at : data) write_all_at(file.get(), as_bytes("data"), static_cast<uint64_t>(at), "a test");
  }
};

TEST_F(SparseTest, FilesOfHolesAreKeptByteForByte) {
  constexpr off_t kSize = 900'001;
  make_sparse("only holes", kSize, {});
  make_sparse("start", kSize, {0});
  make_sparse("middle", kSize, {70'000, 500'000});
  make_sparse("end", kSize, {kSize - 4});
  make_sparse("empty", 0, {});
  EXPECT_EQ(settle_all().kept.size(), 5u);
  for (const char* name : {"only holes", "start", "middle", "end", "empty"}) {
    EXPECT_EQ(kept(std::string("s/") + name), read(name)) << name;
    EXPECT_EQ(hash_contents(copy, name), sha256(read(name))) << name;
  }
}

TEST_F(SparseTest, HolesComeBackAsHoles) {
  std::string content(900'001, '\0');
  content.replace(70'000, 4, "data");
  content.replace(content.size() - 1, 1, "x");
  put("s/sparse", content);
  put("s/zeros", std::string(500'000, '\0'));
  CopyKeeper keeper(context, session);
  keeper.open(as());
  EXPECT_EQ(read("sparse"), content);
  EXPECT_EQ(read("zeros"), std::string(500'000, '\0'));
  EXPECT_LT(allocated("sparse"), 100'000u);
  EXPECT_EQ(allocated("zeros"), 0u);
}

TEST_F(SparseTest, ACaptureThatMustStopLeavesTheRestToTheNext) {
  make_sparse("large", 900'000, {0});
  write("small", "x");
  CaptureAs hurried = as();
  int asked = 0;
  hurried.must_stop = [&] { return ++asked > 2; };
  Touched all;
  all.everything = true;
  auto settled = capture.settle(all, {}, hurried);
  ASSERT_EQ(settled.not_kept.size(), 1u);
  EXPECT_EQ(settled.not_kept[0].path, "s/large");
  EXPECT_TRUE(settled.not_kept[0].only_copy);
  EXPECT_TRUE(find("s/small"));
  EXPECT_TRUE(capture.has_refused());
  settled = settle_all();
  EXPECT_TRUE(find("s/large"));
  EXPECT_FALSE(capture.has_refused());
}

}  // namespace
}  // namespace sk::interpreter
