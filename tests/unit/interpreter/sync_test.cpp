// Sync on a real directory and a real keep.
#include "interpreter/copy/sync.h"

#include "unit/interpreter/copy_fixture.h"

namespace sk::interpreter {
namespace {

class SyncTest : public CopyTest {
 protected:
  void bring_all() { position = sync.bring_all(as().authority); }
  void bring() { position = sync.bring_changes(as().authority, position); }
  // Keeps what the test wrote into the copy.
  void capture_all() {
    Touched touched;
    touched.everything = true;
    capture.settle(touched, {}, as());
  }

  void set_mode(const std::string& path, uint32_t mode) {
    keep.files().apply_one(ws, workspace::SetModeChange{path, mode, {}, {}});
  }
  uint32_t mode_on_disk(const std::string& path) const {
    return static_cast<uint32_t>(std::filesystem::status(on_disk(path)).permissions());
  }

  WorkingCopy copy{context.directory + "/" + session.id.hex(), context.owner};
  Manifest manifest{keep.context(), session.key()};
  Capture capture{keep, copy, manifest, session.folder, context.file_bytes_max};
  Sync sync{keep, copy, manifest, capture, session.folder, {.bytes_max = 1 << 20}};
  int64_t position = 0;
};

TEST_F(SyncTest, AnEmptyCopyGetsTheWholeFolderAndNothingElse) {
  put("s/a/b.txt", "content");
  put("s/c", "");
  put("beside", "not of this session");
  bring_all();
  EXPECT_EQ(read("a/b.txt"), "content");
  EXPECT_TRUE(is_on_disk("c"));
  EXPECT_FALSE(is_on_disk("beside"));
  EXPECT_NE(manifest.find("a/b.txt"), nullptr);
  EXPECT_FALSE(sync.has_skipped());
}

TEST_F(SyncTest, NoMoreIsBroughtThanASessionMayUse) {
  std::string content(300'000, 'x');
  for (int i = 0; i < 6; ++i) put("s/f" + std::to_string(i), content);
  bring_all();
  EXPECT_EQ(read("f2"), content);
  EXPECT_FALSE(is_on_disk("f3"));
  EXPECT_FALSE(is_on_disk("f5"));
  auto told = sync.take_untold();
  ASSERT_EQ(told.size(), 3u);
  EXPECT_NE(told[0].text().find("more disk space"), std::string::npos) << told[0].text();
  capture_all();
  EXPECT_EQ(kept("s/f5"), content) << "what was not brought was not deleted";
}

TEST_F(SyncTest, HolesTakeNoRoom) {
  put("s/zeros", std::string(5 << 20, '\0'));
  bring_all();
  EXPECT_EQ(read("zeros").size(), 5u << 20);
}

TEST_F(SyncTest, ChangesOfOthersComeAfterwards) {
  put("s/f", "one");
  bring_all();
  put("s/f", "two");
  put("s/new", "n");
  trash("s/f");
  put("s/f", "three");
  bring();
  EXPECT_EQ(read("f"), "three");
  EXPECT_EQ(read("new"), "n");
}

TEST_F(SyncTest, WhatOthersDeletedGoes) {
  put("s/d/f", "one");
  bring_all();
  trash("s/d");
  bring();
  EXPECT_FALSE(is_on_disk("d"));
  EXPECT_EQ(manifest.find("d/f"), nullptr);
}

TEST_F(SyncTest, AFileThatCodeChangedIsNeitherReplacedNorRemoved) {
  put("s/replaced", "one");
  put("s/removed", "one");
  bring_all();
  write("replaced", "ours, longer");
  write("removed", "ours, longer");
  put("s/replaced", "theirs");
  trash("s/removed");
  bring();
  EXPECT_EQ(read("replaced"), "ours, longer");
  EXPECT_EQ(read("removed"), "ours, longer");
}

TEST_F(SyncTest, AFileThatAProcessWritesIsLeftUntilItIsClosed) {
  put("s/log", "one");
  bring_all();
  auto node = *copy.look("log");
  sync.ask_for_open_files([&] { return Sync::OpenFiles{{node.device, node.inode}}; });
  put("s/log", "two");
  bring();
  EXPECT_EQ(read("log"), "one");
  EXPECT_TRUE(sync.has_skipped());
  EXPECT_EQ(sync.take_untold().size(), 1u);
  bring();
  EXPECT_TRUE(sync.take_untold().empty()) << "it is told once";
  sync.ask_for_open_files([] { return Sync::OpenFiles{}; });
  bring();
  EXPECT_EQ(read("log"), "two") << "it is tried every time";
  EXPECT_FALSE(sync.has_skipped());
}

TEST_F(SyncTest, TheCopysOwnChangesDoNotComeBack) {
  bring_all();
  write("f", "ours");
  capture_all();
  auto before = copy.look("f");
  bring();
  EXPECT_EQ(read("f"), "ours");
  EXPECT_EQ(copy.look("f")->inode, before->inode) << "the file was written anew";
}

TEST_F(SyncTest, AFolderTakesThePlaceOfAnUnchangedFile) {
  put("s/x", "a file");
  bring_all();
  trash("s/x");
  put("s/x/inside", "now a folder");
  bring();
  EXPECT_EQ(read("x/inside"), "now a folder");
}

TEST_F(SyncTest, AFileThatOthersRenamedIsOnceInTheCopy) {
  put("s/from", "one");
  bring_all();
  workspace::MoveChange move;
  move.from = "s/from";
  move.to = "s/to";
  keep.files().apply_one(ws, move);
  bring();
  EXPECT_FALSE(is_on_disk("from"));
  EXPECT_EQ(read("to"), "one");
}

TEST_F(SyncTest, WhatIsBroughtIsNotANewVersionForTheNextCapture) {
  put("s/f", "one");
  bring_all();
  capture_all();
  EXPECT_EQ(versions("s/f"), 1u);
}

TEST_F(SyncTest, NamesOfOneFileKeepTheModesThatClientsGaveThem) {
  write("a", "one");
  std::filesystem::create_hard_link(on_disk("a"), on_disk("b"));
  bring_all();
  capture_all();
  set_mode("s/a", 0700);
  set_mode("s/b", 0600);
  for (int i = 0; i < 2; ++i) {
    bring();
    capture_all();
    EXPECT_EQ(find("s/a")->mode, 0700u);
    EXPECT_EQ(find("s/b")->mode, 0600u);
    EXPECT_EQ(mode_on_disk("a"), mode_on_disk("b"));
  }
  // Each has its own once it is a file by itself.
  std::filesystem::remove(on_disk("a"));
  capture_all();
  bring();
  EXPECT_EQ(mode_on_disk("b"), 0600u);
  EXPECT_FALSE(sync.has_skipped());
}

TEST_F(SyncTest, AModeForOneNameOfAFileIsNotCapturedForAnother) {
  write("a", "one");
  std::filesystem::create_hard_link(on_disk("a"), on_disk("b"));
  bring_all();
  capture_all();
  uint32_t before = find("s/b")->mode;
  set_mode("s/a", 0600);
  bring();
  capture_all();
  EXPECT_EQ(find("s/b")->mode, before);
  // What code writes takes nothing from that mode either.
  write("b", "two");
  capture_all();
  EXPECT_EQ(kept("s/a"), "two");
  EXPECT_EQ(find("s/a")->mode, 0600u);
  EXPECT_EQ(find("s/b")->mode, before);
}

}  // namespace
}  // namespace sk::interpreter
