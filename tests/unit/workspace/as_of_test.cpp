// Going back in time, where the tree changed in ways that get into each other's way.
#include "base/path.h"
#include "keep_fixture.h"

namespace sk::workspace {
namespace {

class AsOfTest : public KeepTest {
 protected:
  TimeUs moment() {
    clock.advance_us(kSecondUs);
    TimeUs now = clock.now_us();
    clock.advance_us(kSecondUs);
    return now;
  }
  Files::RestoreAsOf go_back(TimeUs time_us, std::string_view folder = "") {
    clock.advance_us(kSecondUs);
    return keep->files().restore_as_of(ws, folder, time_us, false);
  }
  std::vector<std::string> trash_paths() {
    std::vector<std::string> result;
    for (const auto& entry : keep->files().trash(ws, "", 100).items) result.push_back(entry.path);
    std::sort(result.begin(), result.end());
    return result;
  }
  void move(std::string from, std::string to) {
    apply(MoveChange{std::move(from), std::move(to), OnExisting::refuse, {}});
  }
  void trash(std::string path) { apply(TrashChange{std::move(path), {}}); }
  std::string root_named_by_last_error() {
    for (const auto& [name, value] : last_error->facts())
      if (name == "trashed_file_id") return std::get<std::string>(value);
    return "";
  }
  using Paths = std::vector<std::string>;
};

TEST_F(AsOfTest, WhatStaysInTheTrashWhenItsFolderIsTakenOutCanStillBeRestoredAndPurged) {
  put("F/a", "1");
  TimeUs then = moment();
  auto late = put("F/b", "22");
  put("F/sub/c", "333");
  trash("F");
  go_back(then);
  EXPECT_EQ(paths(), (Paths{"F/", "F/a"}));
  EXPECT_EQ(trash_paths(), (Paths{"F/b", "F/sub"}));
  expect_clean();
  EXPECT_EQ(code_of([&] { keep->files().get(ws, "F/b"); }), Code::not_found);
  EXPECT_EQ(root_named_by_last_error(), late.entry.id.with_prefix(prefix::file));
  put("F/b", "again");
  trash("F");
  auto roots = keep->files().trash(ws, "", 10).items;
  ASSERT_EQ(roots[0].path, "F");
  keep->files().restore(ws, roots[0].id, OnExisting::refuse);
  EXPECT_EQ(bytes_at("F/b"), "again");
  EXPECT_EQ(keep->files().empty_trash(ws).files, 3);
  expect_clean();
}

TEST_F(AsOfTest, AFolderTakenFromTheMiddleOfTheTrashLeavesNoHole) {
  put("R/D/x", "1");
  TimeUs then = moment();
  put("R/D/y", "2");
  auto root = keep->files().get(ws, "R");
  trash("R");
  go_back(then, "R/D");
  EXPECT_EQ(paths(), (Paths{"R/", "R/D/", "R/D/x"}));
  expect_clean();
  keep->files().restore(ws, root.id, OnExisting::rename);
  EXPECT_EQ(paths(), (Paths{"R/", "R (2)/", "R/D/", "R/D/x"}));
  EXPECT_EQ(trash_paths(), Paths{"R/D/y"});
  expect_clean();
}

TEST_F(AsOfTest, WhatCameLaterToAFolderThatMovedAwayStaysWhereItIs) {
  auto x = put("old/D/x", "1");
  TimeUs then = moment();
  move("old/D", "new/D");
  put("new/D/y", "2");
  put("new/D/deep/z", "3");
  go_back(then, "old");
  EXPECT_EQ(paths(),
            (Paths{"new/", "old/", "new/D/", "new/D/deep/", "new/D/y", "new/D/deep/z", "old/D/", "old/D/x"}));
  EXPECT_EQ(keep->files().get(ws, "old/D/x").id, x.entry.id);
  EXPECT_EQ(trash_paths(), Paths{});
  expect_clean();
}

TEST_F(AsOfTest, WhatLiesElsewhereNowIsNotTakenFromUnderALock) {
  put("old/x", "1");
  TimeUs then = moment();
  move("old/x", "new/x");
  LockWanted wanted;
  wanted.path = "new";
  Lock held = keep->locks().acquire(ws, wanted);
  EXPECT_EQ(code_of([&] { go_back(then, "old"); }), Code::locked);
  EXPECT_EQ(bytes_at("new/x"), "1");
  keep->locks().release(ws, held.token);
  go_back(then, "old");
  EXPECT_EQ(bytes_at("old/x"), "1");
  expect_clean();
}

TEST_F(AsOfTest, ADryRunCountsUnderALockAndChangesNothing) {
  put("old/x", "1");
  TimeUs then = moment();
  move("old/x", "new/x");
  put("old/later", "2");
  for (const char* path : {"old", "new"}) {
    LockWanted wanted;
    wanted.path = path;
    keep->locks().acquire(ws, wanted);
  }
  EXPECT_EQ(code_of([&] { go_back(then, "old"); }), Code::locked);
  auto counts = keep->files().restore_as_of(ws, "old", then, true);
  EXPECT_TRUE(counts.dry_run);
  EXPECT_EQ(counts.restored, 1);
  EXPECT_EQ(counts.trashed, 1);
  EXPECT_EQ(bytes_at("new/x"), "1");
  EXPECT_EQ(bytes_at("old/later"), "2");
}

TEST_F(AsOfTest, AFileThatCameBackIntoANewFolderOfTheOldNameStays) {
  put("F/a/b", "1");
  auto old = keep->files().get(ws, "F/a");
  TimeUs then = moment();
  move("F/a/b", "b");
  trash("F/a");
  move("b", "F/a/b");
  go_back(then, "F");
  EXPECT_EQ(paths(), (Paths{"F/", "F/a/", "F/a/b"}));
  EXPECT_EQ(keep->files().get(ws, "F/a").id, old.id);
  expect_clean();
}

TEST_F(AsOfTest, AnEmptyFolderComesBackAsItself) {
  apply(MkdirChange{"q1", 0700, {}, true});
  auto q1 = keep->files().get(ws, "q1");
  TimeUs then = moment();
  trash("q1");
  EXPECT_EQ(go_back(then, "q1").restored, 1);
  EXPECT_EQ(keep->files().get(ws, "q1").id, q1.id);
  EXPECT_EQ(keep->files().get(ws, "q1").mode, 0700u);
}

TEST_F(AsOfTest, AFolderThatWasNotThereIsNotFoundAndAFileIsRestoredAlone) {
  put("d/a", "one");
  put("d/b", "one");
  TimeUs then = moment();
  put("d/a", "two");
  put("d/b", "two");
  put("later/c", "x");
  EXPECT_EQ(code_of([&] { go_back(then, "typo"); }), Code::not_found);
  EXPECT_EQ(code_of([&] { go_back(then, "later"); }), Code::not_found);
  EXPECT_EQ(bytes_at("later/c"), "x");
  EXPECT_EQ(go_back(then, "d/a").restored, 1);
  EXPECT_EQ(bytes_at("d/a"), "one");
  EXPECT_EQ(bytes_at("d/b"), "two");
}

TEST_F(AsOfTest, ATimeBeforeTheWorkspaceIsRefused) {
  put("a", "x");
  EXPECT_EQ(code_of([&] { go_back(ws.workspace().created_us - 1); }), Code::bad_request);
  EXPECT_EQ(go_back(ws.workspace().created_us).trashed, 1);
}

TEST_F(AsOfTest, ModesTimesAndTypesGoBackToo) {
  PutChange first = put_change("a", "same");
  first.mode = 0644;
  first.mtime_us = 1'000'000;
  first.mime = "text/x-one";
  apply(std::move(first));
  put("b", "b");
  apply(SetModeChange{"b", 0640, 5'000'000, {}});
  apply(MkdirChange{"folder", 0700, {}, true});
  TimeUs then = moment();
  PutChange second = put_change("a", "same");
  second.mode = 0600;
  second.mtime_us = 2'000'000;
  second.mime = "text/x-two";
  apply(std::move(second));
  apply(SetModeChange{"b", 0777, 6'000'000, {}});
  put("b", "b2");
  apply(SetModeChange{"folder", 0755, {}, {}});
  EXPECT_EQ(go_back(then).restored, 3);
  auto a = keep->files().get(ws, "a");
  EXPECT_EQ(a.mode, 0644u);
  EXPECT_EQ(a.mtime_us, 1'000'000);
  EXPECT_EQ(a.mime, "text/x-one");
  auto b = keep->files().get(ws, "b");
  EXPECT_EQ(b.mode, 0640u);
  EXPECT_EQ(b.mtime_us, 5'000'000);
  EXPECT_EQ(bytes_at("b"), "b");
  EXPECT_EQ(keep->files().get(ws, "folder").mode, 0700u);
  EXPECT_EQ(go_back(then).restored, 0);
  expect_clean();
}

TEST_F(AsOfTest, AContentThatWasPurgedIsNotReplacedByAnOlderOne) {
  put("a", "oldest");
  auto wanted = put("a", "wanted");
  TimeUs then = moment();
  put("a", "now");
  move("a", "b");
  keep->files().purge_version(ws, wanted.version->id);
  auto done = go_back(then);
  EXPECT_EQ(bytes_at("a"), "now");
  EXPECT_EQ(done.purged, 1);
  expect_clean();
}

TEST_F(AsOfTest, WhatCameLaterGoesToTheTrashAsOne) {
  put("a", "1");
  TimeUs then = moment();
  put("late/x", "1");
  put("late/deep/y", "1");
  EXPECT_EQ(go_back(then).trashed, 4);
  EXPECT_EQ(trash_paths(), Paths{"late"});
  keep->files().restore(ws, keep->files().trash(ws, "", 1).items[0].id, OnExisting::refuse);
  EXPECT_EQ(bytes_at("late/deep/y"), "1");
  expect_clean();
}

}  // namespace
}  // namespace sk::workspace
