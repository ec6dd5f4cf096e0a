// Folders that code deletes or renames: what others put into them meanwhile stays, and a folder with very
// many entries does not change in one transaction.
#include <latch>
#include <thread>

#include "interpreter/copy/capture.h"
#include "unit/interpreter/copy_fixture.h"

namespace sk::interpreter {
namespace {

using workspace::Entry;

constexpr size_t kChangedMax = 100;

workspace::KeepLimits small_limits() {
  auto limits = test::workspace_limits();
  limits.changed_entries_max = kChangedMax;
  limits.batch_max = 1000;
  return limits;
}

class LargeChangesTest : public CopyTest {
 protected:
  explicit LargeChangesTest(const workspace::KeepLimits& limits = small_limits()) : CopyTest(limits) {}

  Settled settle_all() {
    Touched touched;
    touched.everything = true;
    return capture.settle(touched, {}, as());
  }
  // All entries of the session's folder, in order.
  std::vector<Entry> entries() {
    workspace::ListOptions options;
    options.folder = "s";
    options.recursive = true;
    std::vector<Entry> all;
    do {
      auto page = keep.files().list(ws, options);
      all.insert(all.end(), page.items.begin(), page.items.end());
      options.cursor = page.next_cursor;
    } while (!options.cursor.empty());
    return all;
  }
  std::vector<std::string> paths() {
    std::vector<std::string> result;
    for (const Entry& entry : entries()) result.push_back(entry.path);
    return result;
  }
  // The largest number of entries that one change of the journal trashed.
  int64_t largest_deletion() {
    return keep.context().db.read([&](catalog::Statements& statements) {
      return *statements.one(
          "SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM entries WHERE trashed_us IS NOT NULL GROUP BY "
          "trash_root) AS groups",
          {}, [](const catalog::Row& row) { return row.integer(0); });
    });
  }

  WorkingCopy copy{context.directory + "/" + session.id.hex(), context.owner};
  Manifest manifest{keep.context(), session.key()};
  Capture capture{keep, copy, manifest, session.folder, context.file_bytes_max};
};

TEST_F(LargeChangesTest, AFolderWithVeryManyFilesIsDeletedInSteps) {
  for (size_t i = 0; i < 3 * kChangedMax; ++i) write("flat/" + std::to_string(i), "x");
  for (size_t i = 0; i < kChangedMax; ++i)
    write("deep/" + std::to_string(i % 10) + "/" + std::to_string(i), "x");
  write("stays", "x");
  settle_all();
  std::filesystem::remove_all(on_disk("flat"));
  std::filesystem::remove_all(on_disk("deep"));
  auto settled = settle_all();
  EXPECT_TRUE(settled.not_kept.empty());
  EXPECT_EQ(paths(), std::vector<std::string>{"s/stays"});
  EXPECT_LE(largest_deletion(), static_cast<int64_t>(kChangedMax));
  EXPECT_GT(largest_deletion(), 1) << "the folders of deep/ go as a whole";
  EXPECT_EQ(manifest.find("flat"), nullptr);
  EXPECT_EQ(manifest.find("deep"), nullptr);
  EXPECT_TRUE(settle_all().deleted.empty());
}

TEST_F(LargeChangesTest, AFileThatTakesThePlaceOfAFolderWithVeryManyIsKept) {
  for (size_t i = 0; i < 3 * kChangedMax; ++i) write("d/" + std::to_string(i), "x");
  settle_all();
  std::filesystem::remove_all(on_disk("d"));
  write("d", "now a file");
  auto settled = settle_all();
  EXPECT_TRUE(settled.not_kept.empty());
  EXPECT_EQ(kept("s/d"), "now a file");
  EXPECT_LE(largest_deletion(), static_cast<int64_t>(kChangedMax));
}

TEST_F(LargeChangesTest, TheFilesOfAVeryLargeFolderKeepTheirIdsWhenItIsRenamed) {
  for (size_t i = 0; i < 3 * kChangedMax; ++i)
    write("old/" + std::to_string(i % 3) + "/" + std::to_string(i), std::to_string(i));
  write("old/small/f", "x");
  settle_all();
  std::map<std::string, Id> before;
  for (const Entry& entry : entries())
    if (entry.kind == workspace::EntryKind::file) before[entry.path.substr(6)] = entry.id;
  std::filesystem::rename(on_disk("old"), on_disk("new"));
  auto settled = settle_all();
  EXPECT_TRUE(settled.not_kept.empty());
  EXPECT_TRUE(settled.kept.empty()) << "a rename makes no version";
  std::map<std::string, Id> after;
  for (const Entry& entry : entries()) {
    EXPECT_TRUE(entry.path.starts_with("s/new")) << entry.path;
    if (entry.kind == workspace::EntryKind::file) after[entry.path.substr(6)] = entry.id;
  }
  EXPECT_EQ(before, after);
  EXPECT_TRUE(settle_all().renamed.empty());
}

// Every batch is one change, so that somebody else gets between a capture's plan and its deletions.
workspace::KeepLimits single_changes() {
  auto limits = test::workspace_limits();
  limits.batch_max = 1;
  return limits;
}

class SharedFolderTest : public LargeChangesTest {
 protected:
  SharedFolderTest() : LargeChangesTest(single_changes()) {}
};

TEST_F(SharedFolderTest, AFileThatIsPutIntoAFolderWhileItsDeletionIsCapturedStays) {
  for (int round = 0; round < 20; ++round) {
    std::string folder = "d" + std::to_string(round);
    write(folder + "/a/ours", "x");
    write(folder + "/b/ours", "x");
    settle_all();
    std::filesystem::remove_all(on_disk(folder));
    write("new" + std::to_string(round), "x");
    workspace::PutChange change;
    change.path = "s/" + folder + "/a/theirs";
    change.content = content_of(keep.context(), "theirs");
    // Released within the transaction of the new file, which comes before that of the deletion.
    std::latch planned(1);
    std::thread other([&] {
      planned.wait();
      keep.files().apply_one(ws, change);
    });
    CaptureAs telling = as();
    bool was_told = false;
    telling.also = [&](catalog::Tx&, const std::vector<KeptFile>&) {
      if (!std::exchange(was_told, true)) planned.count_down();
    };
    Touched touched;
    touched.everything = true;
    auto settled = capture.settle(touched, {}, telling);
    other.join();
    EXPECT_TRUE(settled.not_kept.empty());
    ASSERT_TRUE(find("s/" + folder + "/a/theirs")) << "round " << round;
    EXPECT_FALSE(find("s/" + folder + "/a/ours"));
    EXPECT_FALSE(find("s/" + folder + "/b")) << "what is all ours goes as a whole";
  }
}

}  // namespace
}  // namespace sk::interpreter
