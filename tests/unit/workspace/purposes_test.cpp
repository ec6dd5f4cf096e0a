#include "workspace/purposes.h"

#include "unit/workspace/keep_fixture.h"

namespace sk::workspace {
namespace {

class PurposesTest : public KeepTest {
 protected:
  Version give(const std::string& name, std::string_view bytes, std::string purpose = "user_data",
               std::optional<int64_t> keep_s = {}) {
    clock.advance_us(kSecondUs);
    PutChange change = put_change(keep->purposes().place_for(name), bytes);
    change.purpose = Purpose{std::move(purpose), {}};
    if (keep_s) change.purpose->expires_us = clock.now_us() + *keep_s * kSecondUs;
    return *keep->files().apply_one(ws, std::move(change)).version;
  }
  Version write_as_code(const std::string& path, std::string_view bytes) {
    clock.advance_us(kSecondUs);
    PutChange change = put_change(path, bytes);
    change.source.kind = "execution";
    return *keep->files().apply_one(ws, std::move(change)).version;
  }
  std::vector<Id> listed(GivenQuery query = {}) {
    std::vector<Id> ids;
    for (const auto& file : keep->purposes().list(actor, query)) ids.push_back(file.version.id);
    return ids;
  }
  bool found(const Id& version) { return keep->purposes().find(actor, version).has_value(); }
};

TEST_F(PurposesTest, TwoUploadsOfOneNameAreTwoFiles) {
  auto one = give("a.txt", "one"), two = give("a.txt", "two");
  EXPECT_NE(one.file, two.file);
  EXPECT_TRUE(one.path.starts_with("uploads/2027-01-15/")) << one.path;
  EXPECT_TRUE(one.path.ends_with("/a.txt"));
  EXPECT_EQ(bytes_of(keep->purposes().find(actor, one.id)->version), "one");
}

TEST_F(PurposesTest, OnlyTheLastPartOfANameCounts) {
  EXPECT_TRUE(keep->purposes().place_for("../../etc/passwd").ends_with("/passwd"));
  for (auto name : {"", "a/", "..", "a/.."})
    EXPECT_EQ(code_of([&] { keep->purposes().place_for(name); }), Code::bad_request) << name;
}

TEST_F(PurposesTest, ListsHaveTheNewestVersionOfUploadsAndOutputsAndNothingElse) {
  auto upload = give("a.txt", "a", "batch");
  put("plain.txt", "neither uploaded for a purpose nor written by code");
  auto old = write_as_code("out.txt", "1");
  auto output = write_as_code("out.txt", "2");
  EXPECT_EQ(listed(), (std::vector{output.id, upload.id}));
  GivenQuery query;
  query.order = Order::oldest_first;
  EXPECT_EQ(listed(query), (std::vector{upload.id, output.id}));
  query.limit = 1;
  EXPECT_EQ(listed(query), std::vector{upload.id});
  query.after = upload.id;
  EXPECT_EQ(listed(query), std::vector{output.id});
  EXPECT_EQ(listed({.purpose = "batch", .after = {}}), std::vector{upload.id});
  EXPECT_EQ(listed({.purpose = std::string(kOutputPurpose), .after = {}}), std::vector{output.id});
  EXPECT_TRUE(found(old.id));
  EXPECT_EQ(keep->purposes().find(actor, old.id)->purpose, kOutputPurpose);
}

TEST_F(PurposesTest, ARetractedHeadTrashesItsFileAndIsShownAgainOnceItIsRestored) {
  auto file = give("a.txt", "a");
  keep->purposes().retract(actor, file.id);
  EXPECT_FALSE(found(file.id));
  EXPECT_TRUE(listed().empty());
  EXPECT_TRUE(keep->files().find_by_id(ws, file.file)->trashed_us.has_value());
  EXPECT_TRUE(keep->files().find_version_anywhere(file.id).has_value()) << "its link serves on";
  EXPECT_EQ(code_of([&] { keep->purposes().retract(actor, file.id); }), Code::not_found);
  keep->files().restore(ws, file.file, OnExisting::refuse);
  EXPECT_TRUE(found(file.id));
  EXPECT_EQ(listed(), std::vector{file.id});
  expect_clean();
}

TEST_F(PurposesTest, ARetractedOldVersionLeavesTheFileWhereItIs) {
  auto old = write_as_code("out.txt", "1");
  auto head = write_as_code("out.txt", "2");
  keep->purposes().retract(actor, old.id);
  EXPECT_FALSE(found(old.id));
  EXPECT_TRUE(found(head.id));
  EXPECT_EQ(bytes_at("out.txt"), "2");
}

TEST_F(PurposesTest, AnExpiredFileIsMovedToTheTrash) {
  auto brief = give("brief.txt", "brief", "batch", 3600);
  auto lasting = give("lasting.txt", "lasting");
  EXPECT_EQ(keep->purposes().retract_due(), 0u);
  clock.advance_us(3601 * kSecondUs);
  EXPECT_FALSE(found(brief.id)) << "also before the background comes by";
  EXPECT_EQ(listed(), std::vector{lasting.id});
  EXPECT_EQ(keep->purposes().retract_due(), 1u);
  EXPECT_EQ(keep->purposes().retract_due(), 0u);
  EXPECT_FALSE(found(brief.id));
  EXPECT_TRUE(keep->files().find_by_id(ws, brief.file)->trashed_us.has_value());
  EXPECT_EQ(bytes_of(*keep->files().find_version_anywhere(brief.id)), "brief") << "its link serves on";
  keep->files().restore(ws, brief.file, OnExisting::refuse);
  clock.advance_us(3600 * kSecondUs);
  EXPECT_EQ(keep->purposes().retract_due(), 0u) << "who restored it wants to keep it";
  EXPECT_TRUE(found(brief.id));
  expect_clean();
}

TEST_F(PurposesTest, APurgedFileIsGoneWithItsPurpose) {
  auto file = give("a.txt", "a");
  keep->purposes().retract(actor, file.id);
  keep->files().empty_trash(ws);
  EXPECT_EQ(code_of([&] { keep->purposes().find(actor, file.id); }), Code::gone);
  EXPECT_TRUE(listed().empty());
  expect_clean();
}

TEST_F(PurposesTest, OtherPrincipalsDoNotFindThem) {
  auto file = give("a.txt", "a");
  auto other = keep->access().create_principal(actor, "other", "person");
  auto key = keep->access().create_key(actor, other.id, identity::NewKey{"k", false, {}, {}});
  auto stranger = keep->access().authenticate(key.secret);
  EXPECT_FALSE(keep->purposes().find(stranger, file.id).has_value());
  EXPECT_TRUE(keep->purposes().list(stranger, {}).empty());
  EXPECT_EQ(code_of([&] { keep->purposes().retract(stranger, file.id); }), Code::not_found);
}

TEST_F(PurposesTest, AVersionIsCopiedByItsIdAlsoFromTheTrash) {
  auto old = write_as_code("out.txt", "1");
  write_as_code("out.txt", "2");
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

TEST_F(PurposesTest, HeadsBelowAFolderComeInTheOrderOfTheirIds) {
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
