#include "api/vendor/given_files.h"

#include "unit/workspace/keep_fixture.h"

namespace sk::api {
namespace {

using workspace::OnExisting;
using workspace::Order;
using workspace::PutChange;
using workspace::Version;

class GivenFilesTest : public workspace::KeepTest {
 protected:
  Version give(const std::string& name, std::string_view bytes, std::string purpose = "user_data",
               std::optional<int64_t> keep_s = {}) {
    clock.advance_us(kSecondUs);
    PutChange change = put_change(given_files.place_for(name), bytes);
    Purpose wanted{std::move(purpose), {}};
    if (keep_s) wanted.expires_us = clock.now_us() + *keep_s * kSecondUs;
    std::vector<workspace::Change> changes = {std::move(change)};
    auto made = keep->files().apply(ws, std::move(changes), [&](auto& tx, const auto& results) {
      GivenFiles::give(tx, results[0].entry, wanted);
    });
    return *made[0].version;
  }
  Version write_as_code(const std::string& path, std::string_view bytes) {
    clock.advance_us(kSecondUs);
    PutChange change = put_change(path, bytes);
    change.source.kind = "execution";
    return *keep->files().apply_one(ws, std::move(change)).version;
  }
  std::vector<Id> listed(GivenQuery query = {}) {
    std::vector<Id> ids;
    for (const auto& file : given_files.list(actor, query)) ids.push_back(file.version.id);
    return ids;
  }
  bool found(const Id& version) { return given_files.find(actor, version).has_value(); }

  GivenFiles given_files{*keep};
};

TEST_F(GivenFilesTest, TwoUploadsOfOneNameAreTwoFiles) {
  auto one = give("a.txt", "one"), two = give("a.txt", "two");
  EXPECT_NE(one.file, two.file);
  EXPECT_TRUE(one.path.starts_with("uploads/2027-01-15/")) << one.path;
  EXPECT_TRUE(one.path.ends_with("/a.txt"));
  EXPECT_EQ(bytes_of(given_files.find(actor, one.id)->version), "one");
}

TEST_F(GivenFilesTest, OnlyTheLastPartOfANameCounts) {
  EXPECT_TRUE(given_files.place_for("../../etc/passwd").ends_with("/passwd"));
  for (auto name : {"", "a/", "..", "a/.."})
    EXPECT_EQ(code_of([&] { given_files.place_for(name); }), Code::bad_request) << name;
}

TEST_F(GivenFilesTest, ListsHaveTheNewestVersionOfUploadsAndOutputsAndNothingElse) {
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
  EXPECT_EQ(given_files.find(actor, old.id)->purpose, kOutputPurpose);
}

TEST_F(GivenFilesTest, ARetractedHeadTrashesItsFileAndIsShownAgainOnceItIsRestored) {
  auto file = give("a.txt", "a");
  keep->retractions().retract(actor, file.id);
  EXPECT_FALSE(found(file.id));
  EXPECT_TRUE(listed().empty());
  EXPECT_TRUE(keep->files().find_by_id(ws, file.file)->trashed_us.has_value());
  EXPECT_TRUE(keep->files().find_version_anywhere(file.id).has_value()) << "its link serves on";
  EXPECT_EQ(code_of([&] { keep->retractions().retract(actor, file.id); }), Code::not_found);
  keep->files().restore(ws, file.file, OnExisting::refuse);
  EXPECT_TRUE(found(file.id));
  EXPECT_EQ(listed(), std::vector{file.id});
  expect_clean();
}

TEST_F(GivenFilesTest, ARetractedOldVersionLeavesTheFileWhereItIs) {
  auto old = write_as_code("out.txt", "1");
  auto head = write_as_code("out.txt", "2");
  keep->retractions().retract(actor, old.id);
  EXPECT_FALSE(found(old.id));
  EXPECT_TRUE(found(head.id));
  EXPECT_EQ(bytes_at("out.txt"), "2");
}

TEST_F(GivenFilesTest, AnExpiredFileIsMovedToTheTrash) {
  auto brief = give("brief.txt", "brief", "batch", 3600);
  auto lasting = give("lasting.txt", "lasting");
  EXPECT_EQ(given_files.retract_due(), 0u);
  clock.advance_us(3601 * kSecondUs);
  EXPECT_FALSE(found(brief.id)) << "also before the background comes by";
  EXPECT_EQ(listed(), std::vector{lasting.id});
  EXPECT_EQ(given_files.retract_due(), 1u);
  EXPECT_EQ(given_files.retract_due(), 0u);
  EXPECT_FALSE(found(brief.id));
  EXPECT_TRUE(keep->files().find_by_id(ws, brief.file)->trashed_us.has_value());
  EXPECT_EQ(bytes_of(*keep->files().find_version_anywhere(brief.id)), "brief") << "its link serves on";
  keep->files().restore(ws, brief.file, OnExisting::refuse);
  clock.advance_us(3600 * kSecondUs);
  EXPECT_EQ(given_files.retract_due(), 0u) << "who restored it wants to keep it";
  EXPECT_TRUE(found(brief.id));
  expect_clean();
}

TEST_F(GivenFilesTest, APurgedFileIsGoneWithItsPurpose) {
  auto file = give("a.txt", "a");
  keep->retractions().retract(actor, file.id);
  keep->files().empty_trash(ws);
  EXPECT_EQ(code_of([&] { given_files.find(actor, file.id); }), Code::gone);
  EXPECT_TRUE(listed().empty());
  EXPECT_EQ(keep->context().db.read([&](catalog::Statements& statements) {
    return statements.exists("SELECT 1 FROM purposes WHERE file = $1", {file.file});
  }),
            false);
  expect_clean();
}

TEST_F(GivenFilesTest, APurposeIsReplacedByALaterOne) {
  auto file = give("a.txt", "a", "batch");
  auto entry = *keep->files().find_by_id(ws, file.file);
  keep->context().db.write(ws.scope(), [&](catalog::Tx& tx) { GivenFiles::give(tx, entry, {"vision", {}}); });
  EXPECT_EQ(given_files.find(actor, file.id)->purpose, "vision");
}

TEST_F(GivenFilesTest, AnExpiredFileThatIsLockedIsHiddenAndRetractedLater) {
  auto file = give("a.txt", "a", "batch", 3600);
  auto lock = keep->locks().acquire(ws, {.path = file.path, .purpose = "", .ttl_s = 3600});
  clock.advance_us(3600 * kSecondUs - 1);
  lock = keep->locks().renew(ws, lock.token, 3600);
  clock.advance_us(1);
  EXPECT_EQ(given_files.retract_due(), 0u);
  EXPECT_FALSE(found(file.id));
  keep->locks().release(ws, lock.token);
  EXPECT_EQ(given_files.retract_due(), 1u);
  EXPECT_TRUE(keep->files().find_by_id(ws, file.file)->trashed_us.has_value());
}

TEST_F(GivenFilesTest, OtherPrincipalsDoNotFindThem) {
  auto file = give("a.txt", "a");
  auto other = keep->access().create_principal(actor, "other", "person");
  auto key = keep->access().create_key(actor, other.id, identity::NewKey{"k", false, {}, {}});
  auto stranger = keep->access().authenticate(key.secret);
  EXPECT_FALSE(given_files.find(stranger, file.id).has_value());
  EXPECT_TRUE(given_files.list(stranger, {}).empty());
  EXPECT_EQ(code_of([&] { keep->retractions().retract(stranger, file.id); }), Code::not_found);
}

}  // namespace
}  // namespace sk::api
