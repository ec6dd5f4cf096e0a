// A request changes a limited number of entries, since all other writers wait for its transaction.
#include "keep_fixture.h"

namespace sk::workspace {
namespace {

class LargeChangesTest : public KeepTest {
 protected:
  LargeChangesTest() {
    limits.changed_entries_max = 10;
    reopen();
  }
  static Change move(std::string from, std::string to) {
    MoveChange change;
    change.from = std::move(from), change.to = std::move(to);
    return change;
  }
  static Change copy(std::string from, std::string to) {
    CopyChange change;
    change.from = std::move(from), change.to = std::move(to);
    return change;
  }
  // Files in the folder, one level down.
  void make(const std::string& folder, int files) {
    for (int i = 0; i < files; ++i) put(folder + "/below/" + std::to_string(i), std::to_string(i));
  }
};

TEST_F(LargeChangesTest, WhatIsWithinTheLimitIsMovedCopiedTrashedAndRestored) {
  make("folder", 9);  // and the folder below
  apply(move("folder", "moved"));
  make("small", 1);  // a copied entry counts for five
  apply(copy("small", "copied"));
  Id id = keep->files().get(ws, "moved").id;
  apply(TrashChange{"moved", {}});
  EXPECT_EQ(keep->files().restore(ws, id, OnExisting::refuse).path, "moved");
}

TEST_F(LargeChangesTest, WhatIsOverTheLimitIsRefusedWithTheFigureAndStays) {
  make("folder", 10);
  auto before = paths();
  EXPECT_EQ(code_of([&] { apply(move("folder", "moved")); }), Code::too_large);
  EXPECT_NE(last_error->message().find("more than 10 entries"), std::string::npos) << last_error->message();
  EXPECT_EQ(code_of([&] { apply(copy("folder", "copied")); }), Code::too_large);
  EXPECT_NE(last_error->message().find("more than 2 entries"), std::string::npos) << last_error->message();
  EXPECT_EQ(code_of([&] { apply(TrashChange{"folder", {}}); }), Code::too_large);
  EXPECT_EQ(code_of([&] { keep->files().restore_as_of(ws, "", clock.now_us(), false, {}); }),
            Code::too_large);
  EXPECT_EQ(paths(), before);
  apply(TrashChange{"folder/below/1", {}});
  apply(TrashChange{"folder", {}});
  expect_clean();
}

TEST_F(LargeChangesTest, ChangesOfOneBatchCountTogether) {
  make("folder", 4);
  std::vector<Change> there_and_back;
  for (int i = 0; i < 2; ++i) {
    there_and_back.emplace_back(move("folder", "other"));
    there_and_back.emplace_back(move("other", "folder"));
  }
  EXPECT_EQ(code_of([&] { keep->files().apply(ws, std::move(there_and_back)); }), Code::too_large);
  EXPECT_EQ(bytes_at("folder/below/3"), "3");
}

TEST_F(LargeChangesTest, TheServersOwnWorkIsNotLimited) {
  make("folder", 20);
  auto authority = system_authority(ws.workspace_id(), actor, "a test");
  keep->files().apply_one(authority, move("folder", "moved"));
  EXPECT_EQ(bytes_at("moved/below/7"), "7");
}

}  // namespace
}  // namespace sk::workspace
