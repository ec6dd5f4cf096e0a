#include "workspace/retractions.h"

#include <set>

#include "unit/workspace/keep_fixture.h"

namespace sk::workspace {
namespace {

using RetractionsTest = KeepTest;

TEST_F(RetractionsTest, ARetractedIdIsFoundAgainOnceItsFileIsRestored) {
  auto version = *put("a.txt", "1").version;
  keep->retractions().retract(actor, version.id);
  EXPECT_FALSE(keep->retractions().find(actor, version.id).has_value());
  EXPECT_EQ(code_of([&] { keep->retractions().retract(actor, version.id); }), Code::not_found);
  EXPECT_TRUE(keep->files().find_version_anywhere(version.id).has_value());
  keep->files().restore(ws, version.file, OnExisting::refuse);
  EXPECT_TRUE(keep->retractions().find(actor, version.id).has_value());
  expect_clean();
}

TEST_F(RetractionsTest, AFileIsRetractedWithAllItsVersionsOrNotAtAll) {
  auto old = *put("a.txt", "1").version, head = *put("a.txt", "2").version;
  auto fails = [](catalog::Tx&) { throw Error(Code::conflict, "no"); };
  EXPECT_EQ(code_of([&] {
              keep->retractions().retract_file(head.workspace, head.file, "a test takes it back", fails);
            }),
            Code::conflict);
  EXPECT_TRUE(keep->retractions().find(actor, head.id).has_value());
  keep->retractions().retract_file(head.workspace, head.file, "a test takes it back", [](catalog::Tx&) {});
  for (const Id& id : {old.id, head.id}) EXPECT_FALSE(keep->retractions().find(actor, id).has_value());
  EXPECT_TRUE(keep->files().find_by_id(ws, head.file)->trashed_us.has_value());
  expect_clean();
}

TEST_F(RetractionsTest, NothingIsRetractedFromAWorkspaceInTheTrash) {
  keep->workspaces().create(actor, "other");
  auto other = keep->workspaces().open(actor, "other", Right::own);
  auto version = *keep->files().apply_one(other, put_change("a.txt", "1")).version;
  keep->workspaces().trash(other);
  EXPECT_EQ(code_of([&] { keep->retractions().retract(actor, version.id); }), Code::not_found);
}

TEST_F(RetractionsTest, APurgeTellsOtherRooms) {
  auto version = *put("a.txt", "1").version;
  std::set<Id> purged;  // a transaction may run again
  keep->context().on_purge.emplace_back([&](catalog::Tx&, const Id& file) { purged.insert(file); });
  keep->retractions().retract(actor, version.id);
  keep->files().empty_trash(ws);
  EXPECT_EQ(purged, std::set{version.file});
  EXPECT_EQ(code_of([&] { keep->retractions().find(actor, version.id); }), Code::gone);
}

TEST_F(RetractionsTest, AVersionIsCopiedByItsIdAlsoFromTheTrash) {
  auto old = *put("out.txt", "1").version;
  put("out.txt", "2");
  apply(TrashChange{.path = "out.txt", .conditions = {}});
  put("out.txt", "another file at that path");
  CopyChange copy;
  copy.from_version = old.id;
  copy.to = "in/out.txt";
  EXPECT_EQ(bytes_of(*apply(copy).version), "1");
  copy.from_version = ws.workspace_id();
  EXPECT_EQ(code_of([&] { apply(copy); }), Code::not_found);
  copy.from_version.reset();
  EXPECT_EQ(code_of([&] { apply(copy); }), Code::bad_request);
  expect_clean();
}

TEST_F(RetractionsTest, HeadsBelowAFolderComeInTheOrderOfTheirIds) {
  auto a = put("f/a.txt", "a"), b = put("f/deep/b.txt", "b"), outside = put("fa.txt", "x");
  auto newer = put("f/a.txt", "a2");
  auto ids = [&](HeadQuery query) {
    std::vector<Id> result;
    for (const auto& version : keep->files().heads(ws, query)) result.push_back(version.id);
    return result;
  };
  EXPECT_EQ(ids({.folder = "f", .after = {}}), (std::vector{newer.version->id, b.version->id}));
  EXPECT_EQ(ids({.folder = "f", .after = {}, .order = Order::oldest_first}),
            (std::vector{b.version->id, newer.version->id}));
  EXPECT_EQ(ids({.folder = "f", .after = newer.version->id}), std::vector{b.version->id});
  EXPECT_EQ(ids({.folder = "", .after = {}}),
            (std::vector{newer.version->id, outside.version->id, b.version->id}));
  EXPECT_TRUE(ids({.folder = "nowhere", .after = {}}).empty());
}

}  // namespace
}  // namespace sk::workspace
