// The memory for the names of files in working copies: bounded for each principal and for all, and given
// back.
#include "unit/interpreter/copy_fixture.h"

namespace sk::interpreter {
namespace {

class CopyMemoryTest : public CopyTest {
 protected:
  CopyMemoryTest() { here.names = &names; }

  void write_files(const std::string& folder, int count) {
    for (int i = 0; i < count; ++i) write(folder + "/" + std::to_string(i), "x");
  }
  void put_files(const std::string& folder, int count) {
    std::vector<workspace::Change> changes;
    for (int i = 0; i < count; ++i) {
      workspace::PutChange change;
      change.path = folder + "/" + std::to_string(i);
      change.content = content_of(keep.context(), "x");
      changes.emplace_back(std::move(change));
    }
    keep.files().apply(ws, std::move(changes));
  }
  Gauge& in_use = metrics.gauge("in_use", "");
  MemoryBudget names{512 << 10, in_use};  // some 800 rows for one owner
  CopyContext here = context;
};

TEST_F(CopyMemoryTest, ASessionWhoseFolderNeedsTooMuchDoesNotOpen) {
  put_files("s", 1000);
  {
    CopyKeeper keeper(here, session);
    try {
      keeper.open(as());
      FAIL() << "it opened";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::too_large);
    }
  }
  EXPECT_EQ(in_use.value(), 0);
  for (int i = 0; i < 900; ++i) trash("s/" + std::to_string(i));
  CopyKeeper keeper(here, session);
  keeper.open(as());
  EXPECT_TRUE(is_on_disk("950"));
  EXPECT_FALSE(is_on_disk("850"));
  EXPECT_TRUE(keeper.close(as()).kept);
  EXPECT_EQ(in_use.value(), 0);
}

TEST_F(CopyMemoryTest, NewFilesThatNeedTooMuchAreNamedAndKeptOnceThereIsRoom) {
  CopyKeeper keeper(here, session);
  keeper.open(as());
  keeper.mark_used();
  write_files("a", 300);
  EXPECT_TRUE(keeper.capture(CopyKeeper::Extent::touched, as()).not_kept.empty());
  write_files("b", 300);
  auto settled = keeper.capture(CopyKeeper::Extent::touched, as());
  ASSERT_FALSE(settled.not_kept.empty());
  EXPECT_FALSE(settled.kept.empty()) << "as many as there is room for";
  EXPECT_EQ(settled.not_kept[0].reason, UnkeptReason::too_large);
  EXPECT_TRUE(settled.not_kept[0].only_copy);
  std::filesystem::remove_all(on_disk("a"));
  keeper.capture(CopyKeeper::Extent::touched, as());
  EXPECT_TRUE(keeper.retry(as(), {}).not_kept.empty());
  for (int i = 0; i < 300; ++i) EXPECT_TRUE(find("s/b/" + std::to_string(i))) << i;
  EXPECT_TRUE(keeper.close(as()).kept);
}

TEST_F(CopyMemoryTest, AComparisonThatNeedsTooMuchFailsAndLosesNothing) {
  CopyKeeper keeper(here, session);
  keeper.open(as());
  keeper.mark_used();
  write_files("a", 10);
  keeper.capture(CopyKeeper::Extent::all, as());
  write_files("b", 2000);
  EXPECT_THROW(keeper.capture(CopyKeeper::Extent::all, as()), Error);
  EXPECT_TRUE(find("s/a/1"));
  auto unkept = records.unkept(session.id);
  ASSERT_EQ(unkept.size(), 1u) << "whoever deletes the session is told that it may hold more";
  EXPECT_EQ(unkept[0].path, "s");
  EXPECT_TRUE(unkept[0].only_copy);
  EXPECT_LE(in_use.value(), 16 << 10) << "the memory of the comparison is given back";
  for (int i = 100; i < 2000; ++i) std::filesystem::remove(on_disk("b/" + std::to_string(i)));
  EXPECT_TRUE(keeper.capture(CopyKeeper::Extent::all, as()).not_kept.empty());
  EXPECT_TRUE(find("s/b/99"));
  EXPECT_FALSE(find("s/b/100"));
  EXPECT_TRUE(records.unkept(session.id).empty());
}

TEST_F(CopyMemoryTest, WhatWasRefusedDoesNotStandInTheWayOfAComparison) {
  CopyKeeper keeper(here, session);
  keeper.open(as());
  keeper.mark_used();
  for (int folder = 0; folder < 4; ++folder) {
    write_files("d" + std::to_string(folder), folder == 3 ? 100 : 250);
    try {
      keeper.capture(CopyKeeper::Extent::touched, as());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::too_large);
    }
  }
  EXPECT_FALSE(records.unkept(session.id).empty());
  for (int folder = 0; folder < 3; ++folder)
    std::filesystem::remove_all(on_disk("d" + std::to_string(folder)));
  // A comparison may need more than one try: the rows of what is gone go with the first.
  for (int i = 0; i < 3 && !records.unkept(session.id).empty(); ++i) {
    try {
      keeper.retry(as(), {});
    } catch (const Error&) {
    }
  }
  EXPECT_TRUE(records.unkept(session.id).empty());
  EXPECT_TRUE(find("s/d3/99"));
}

TEST_F(CopyMemoryTest, ChangesOfOthersThatNeedTooMuchDoNotStopTheSession) {
  CopyKeeper keeper(here, session);
  keeper.open(as());
  put_files("theirs", 1000);
  workspace::MoveChange move;
  move.from = "theirs", move.to = "s/theirs";
  keep.files().apply_one(ws, move);
  std::vector<Sentence> told;
  EXPECT_NO_THROW(told = keeper.bring_outside_changes(as()));
  ASSERT_EQ(told.size(), 1u);
  trash("s/theirs");
  EXPECT_TRUE(keeper.bring_outside_changes(as()).empty());
}

}  // namespace
}  // namespace sk::interpreter
