// Capture on a real directory and a real keep. The watcher is played: each test says what was touched.
#include "interpreter/copy/capture.h"

#include <sys/stat.h>

#include "unit/interpreter/copy_fixture.h"

namespace sk::interpreter {
namespace {

class CaptureTest : public CopyTest {
 protected:
  Settled settle(std::set<std::string> paths,
                 const std::set<std::pair<uint64_t, uint64_t>>& open_files = {}) {
    Touched touched;
    touched.paths = std::move(paths);
    return capture.settle(touched, open_files, as());
  }
  Settled settle_all() {
    Touched touched;
    touched.everything = true;
    return capture.settle(touched, {}, as());
  }

  WorkingCopy copy{context.directory + "/" + session.id.hex(), context.owner};
  Manifest manifest{keep.context(), session.key()};
  Capture capture{keep, copy, manifest, session.folder, context.file_bytes_max};
};

TEST_F(CaptureTest, ANewFileIsKeptWithTheFoldersAboveIt) {
  write("a/b.txt", "content");
  auto settled = settle({"a", "a/b.txt"});
  ASSERT_EQ(settled.kept.size(), 1u);
  EXPECT_EQ(settled.kept[0].path, "s/a/b.txt");
  EXPECT_EQ(settled.kept[0].change, KeptChange::created);
  EXPECT_EQ(kept("s/a/b.txt"), "content");
  EXPECT_EQ(find("s/a")->kind, workspace::EntryKind::folder);
  ASSERT_NE(manifest.find("a/b.txt"), nullptr);
  EXPECT_EQ(manifest.find("a/b.txt")->version, settled.kept[0].version);
}

TEST_F(CaptureTest, ChangedBytesAreANewVersionOfTheSameFile) {
  write("f", "one");
  auto first = settle({"f"});
  write("f", "two, longer");
  auto second = settle({"f"});
  ASSERT_EQ(second.kept.size(), 1u);
  EXPECT_EQ(second.kept[0].change, KeptChange::changed);
  EXPECT_EQ(second.kept[0].file, first.kept[0].file);
  EXPECT_NE(second.kept[0].version, first.kept[0].version);
  EXPECT_EQ(versions("s/f"), 2u);
}

TEST_F(CaptureTest, AFileThatWasTouchedAndIsTheSameGetsNoVersion) {
  write("f", "one");
  settle({"f"});
  write("f", "one");
  settle({"f"});
  settle_all();
  EXPECT_EQ(versions("s/f"), 1u);
}

TEST_F(CaptureTest, OnlyWhatWasTouchedIsLookedAt) {
  write("seen", "1");
  write("unseen", "1");
  settle({"seen"});
  EXPECT_TRUE(find("s/seen"));
  EXPECT_FALSE(find("s/unseen"));
  settle_all();
  EXPECT_TRUE(find("s/unseen"));
}

TEST_F(CaptureTest, WhatCodeDeletedGoesToTheTrash) {
  write("d/f", "one");
  settle({"d", "d/f"});
  std::filesystem::remove_all(on_disk("d"));
  auto settled = settle({"d", "d/f"});
  EXPECT_EQ(settled.deleted, std::vector<std::string>{"s/d"});
  EXPECT_FALSE(find("s/d"));
  EXPECT_EQ(manifest.find("d/f"), nullptr);
}

TEST_F(CaptureTest, WhatWasNeverInTheCopyIsNotDeleted) {
  put("s/of-others", "theirs");
  settle({"of-others"});
  settle_all();
  EXPECT_TRUE(find("s/of-others"));
}

TEST_F(CaptureTest, AFileThatOthersChangedIsNotDeletedWithTheCopys) {
  write("f", "one");
  settle({"f"});
  put("s/f", "theirs");
  std::filesystem::remove(on_disk("f"));
  settle({"f"});
  EXPECT_EQ(kept("s/f"), "theirs");
}

TEST_F(CaptureTest, AChangeThatOthersOvertookIsKeptAndDiverges) {
  write("f", "one");
  settle({"f"});
  put("s/f", "theirs");
  write("f", "ours, at the same time");
  auto settled = settle({"f"});
  ASSERT_EQ(settled.kept.size(), 1u);
  EXPECT_TRUE(settled.kept[0].diverged);
  EXPECT_EQ(versions("s/f"), 3u);
}

TEST_F(CaptureTest, ARenamedFileStaysTheSameFile) {
  write("from", "one");
  auto first = settle({"from"});
  std::filesystem::rename(on_disk("from"), on_disk("to"));
  auto settled = settle({"from", "to"});
  ASSERT_EQ(settled.renamed.size(), 1u);
  EXPECT_EQ(settled.renamed[0], std::pair(std::string("s/from"), std::string("s/to")));
  EXPECT_EQ(find("s/to")->id, first.kept[0].file);
  EXPECT_FALSE(find("s/from"));
  EXPECT_EQ(versions("s/to"), 1u);
}

TEST_F(CaptureTest, AFileThatIsBeingWrittenIsKeptAsIncompleteAndAgainWhenItIsClosed) {
  write("log", "half");
  auto node = *copy.look("log");
  auto open = settle({"log"}, {{node.device, node.inode}});
  ASSERT_EQ(open.kept.size(), 1u);
  EXPECT_FALSE(open.kept[0].complete);
  write("log", "half and half");
  auto closed = settle({"log"});
  ASSERT_EQ(closed.kept.size(), 1u);
  EXPECT_TRUE(closed.kept[0].complete);
}

TEST_F(CaptureTest, WhatIsNoFileIsNamedOnceWithItsReason) {
  ASSERT_EQ(::mkfifo(on_disk("pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("elsewhere", on_disk("link"));
  auto settled = settle({"pipe", "link"});
  ASSERT_EQ(settled.not_kept.size(), 2u);
  EXPECT_EQ(settled.not_kept[0].path, "s/link");
  EXPECT_EQ(settled.not_kept[0].reason, UnkeptReason::link);
  EXPECT_EQ(settled.not_kept[1].reason, UnkeptReason::fifo);
  EXPECT_TRUE(settle({"pipe", "link"}).not_kept.empty());
  EXPECT_FALSE(find("s/link"));
}

TEST_F(CaptureTest, AFileThatIsTooLargeIsTheOnlyCopy) {
  write("large", std::string((1 << 20) + 1, 'x'));
  auto settled = settle({"large"});
  ASSERT_EQ(settled.not_kept.size(), 1u);
  EXPECT_EQ(settled.not_kept[0].reason, UnkeptReason::too_large);
  EXPECT_TRUE(settled.not_kept[0].only_copy);
  EXPECT_EQ(capture.refused().size(), 1u);
  std::filesystem::remove(on_disk("large"));
  settle({"large"});
  EXPECT_TRUE(capture.refused().empty());
}

TEST_F(CaptureTest, WhatTheQuotaRefusedIsTriedAgainUntouched) {
  keep.workspaces().change(ws, {}, 10);
  write("f", "more than ten bytes");
  auto settled = settle({"f"});
  ASSERT_EQ(settled.not_kept.size(), 1u);
  EXPECT_EQ(settled.not_kept[0].reason, UnkeptReason::quota);
  EXPECT_TRUE(capture.has_refused());
  keep.workspaces().change(ws, {}, 1000);
  settle({});
  EXPECT_EQ(kept("s/f"), "more than ten bytes");
  EXPECT_FALSE(capture.has_refused());
}

TEST_F(CaptureTest, TheExecutionsRecordIsWrittenInTheTransactionOfItsFiles) {
  write("f", "one");
  std::vector<std::string> recorded;
  CaptureAs with_record = as();
  with_record.also = [&](catalog::Tx&, const std::vector<KeptFile>& files) {
    recorded.clear();  // the transaction may run again
    for (const auto& file : files) recorded.push_back(file.path);
  };
  Touched touched;
  touched.paths = {"f"};
  capture.settle(touched, {}, with_record);
  EXPECT_EQ(recorded, std::vector<std::string>{"s/f"});

  write("g", "two");
  with_record.also = [](catalog::Tx&, const std::vector<KeptFile>&) {
    throw Error(Code::internal, "the record cannot be written");
  };
  touched.paths = {"g"};
  EXPECT_THROW(capture.settle(touched, {}, with_record), Error);
  EXPECT_FALSE(find("s/g")) << "a version without its record";
  EXPECT_EQ(manifest.find("g"), nullptr);
}

}  // namespace
}  // namespace sk::interpreter
