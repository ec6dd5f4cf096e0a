#include "workspace/usage.h"

#include "unit/workspace/keep_fixture.h"

namespace sk::workspace {
namespace {

class UsageTest : public KeepTest {
 protected:
  PrincipalUsage mine() { return keep->quotas().of_principal(actor, actor.principal(), 16); }
  WorkspaceUsage usage() { return keep->quotas().of_workspace(ws); }
  void set_quota_of_principal(std::optional<uint64_t> bytes) {
    identity::LimitChanges changes;
    changes.quota_bytes = bytes;
    keep->access().set_limits(actor, actor.principal(), changes);
  }
  Lock lock(const std::string& path) {
    LockWanted wanted;
    wanted.path = path;
    return keep->locks().acquire(ws, wanted);
  }
  Json fact(std::string_view name) {
    for (const auto& one : last_error->facts())
      if (one.first == name) return std::visit([](const auto& value) { return Json(value); }, one.second);
    return {};
  }
  // Counts records that no other call of this room makes.
  void add_messages(int64_t bytes) {
    keep->context().db.write(ws.scope(), [&](catalog::Tx& tx) {
      count_records(tx, ws.workspace_id(), RecordKind::message, {bytes, 1});
    });
  }
};

TEST_F(UsageTest, EveryFigureIsKeptWithTheRowsThatItCounts) {
  put("a", std::string(1000, 'a'));
  put("b", std::string(1000, 'a'));
  put("a", "short");
  apply(TrashChange{"b", {}});
  auto seen = usage();
  EXPECT_EQ(seen.contents.bytes, 1005);
  EXPECT_EQ(seen.contents.count, 2);
  EXPECT_EQ(seen.versions.bytes, 2005);
  EXPECT_EQ(seen.versions.count, 3);
  EXPECT_EQ(seen.trash.bytes, 1000);
  EXPECT_EQ(seen.trash.count, 1);
  EXPECT_EQ(seen.journal.count, 5);  // with the creation of the workspace
  EXPECT_GT(seen.journal.bytes, 5 * kRowBytes);
  EXPECT_EQ(seen.counted_bytes, 1005u) << "the first MiB of records is free";
  EXPECT_EQ(mine().bytes, static_cast<uint64_t>(seen.contents.bytes + seen.journal.bytes));
  EXPECT_EQ(mine().journal.bytes, seen.journal.bytes);
  keep->files().empty_trash(ws);
  EXPECT_EQ(usage().versions.count, 2);
  expect_clean();
}

TEST_F(UsageTest, RecordsBeyondTheFirstMibCountForTheWorkspace) {
  keep->workspaces().change(ws, std::nullopt, 2 << 20);
  put("a", std::string(1 << 20, 'a'));
  add_messages(2 << 20);
  EXPECT_EQ(code_of([&] { put("b", "b"); }), Code::quota_exceeded);
  EXPECT_EQ(code_of([&] { apply(MoveChange{"a", "c", OnExisting::refuse, {}}); }), Code::quota_exceeded);
  EXPECT_EQ(code_of([&] { lock("a"); }), Code::quota_exceeded);
  EXPECT_EQ(code_of([&] { keep->quotas().check_room_for_records(ws, 0); }), Code::quota_exceeded);
}

TEST_F(UsageTest, AWorkspaceFullOfFilesStillTakesRecords) {
  keep->workspaces().change(ws, std::nullopt, 100);
  put("a", std::string(100, 'a'));
  EXPECT_EQ(code_of([&] { put("b", "b"); }), Code::quota_exceeded);
  apply(MoveChange{"a", "c", OnExisting::refuse, {}});
  keep->quotas().check_room_for_records(ws, 0);
  EXPECT_EQ(code_of([&] { keep->quotas().check_room_for_records(ws, 2 << 20); }), Code::quota_exceeded);
  add_messages(1 << 20);
  EXPECT_EQ(code_of([&] { keep->quotas().check_room_for_records(ws, 0); }), Code::quota_exceeded);
}

TEST_F(UsageTest, TheQuotaOfAPrincipalCountsAllItsWorkspaces) {
  keep->workspaces().create(actor, "other");
  auto second = keep->workspaces().open(actor, "other", Right::write);
  put("a", std::string(40'000, 'a'));
  set_quota_of_principal(80'000);
  auto change = put_change("b", std::string(40'000, 'b'));
  EXPECT_EQ(code_of([&] { keep->files().apply_one(second, std::move(change)); }), Code::quota_exceeded);
  EXPECT_EQ(fact("quota_of"), "principal");
  EXPECT_EQ(fact("quota_bytes"), 80'000);
  set_quota_of_principal(90'000);
  keep->files().apply_one(second, put_change("b", std::string(40'000, 'b')));
  expect_clean();
}

TEST_F(UsageTest, OverTheQuotaWhatIsThereCanBeRemoved) {
  auto first = put("a", std::string(2000, 'a'));
  put("a", "newer");
  put("b", "b");
  auto held = lock("b");
  set_quota_of_principal(1);
  EXPECT_EQ(code_of([&] { put("c", "c"); }), Code::quota_exceeded);
  EXPECT_EQ(code_of([&] { apply(MkdirChange{"d", {}, {}, true, false}); }), Code::quota_exceeded);
  EXPECT_EQ(code_of([&] { keep->locks().renew(ws, held.token, 60); }), Code::quota_exceeded);
  keep->locks().release(ws, held.token);
  keep->files().purge_version(ws, first.version->id);
  apply(TrashChange{"a", {}});
  keep->files().empty_trash(ws);
  keep->workspaces().revoke_links(ws);
  EXPECT_EQ(paths(), std::vector<std::string>{"b"});
  keep->workspaces().trash(ws);
  expect_clean();
}

TEST_F(UsageTest, AQuotaOfZeroIsNone) {
  limits.principal_quota_bytes = 10'000;
  reopen();
  EXPECT_EQ(code_of([&] { put("a", std::string(20'000, 'a')); }), Code::quota_exceeded);
  set_quota_of_principal(0);
  put("a", std::string(20'000, 'a'));
}

TEST_F(UsageTest, WorkspacesAreLimitedWithThoseInTheTrash) {
  limits.workspaces_per_principal_max = 2;
  reopen();
  keep->workspaces().create(actor, "second");
  EXPECT_EQ(code_of([&] { keep->workspaces().create(actor, "third"); }), Code::quota_exceeded);
  EXPECT_EQ(fact("limit"), 2);
  EXPECT_EQ(fact("count"), 2);
  keep->workspaces().trash(keep->workspaces().open(actor, "second", Right::own));
  EXPECT_EQ(code_of([&] { keep->workspaces().create(actor, "third"); }), Code::quota_exceeded);
  EXPECT_EQ(mine().workspaces_in_trash, 1u);
  // Another principal has its own limit, and an administrator may set one.
  keep->access().create_principal(actor, "ada", "person");
  identity::LimitChanges changes;
  changes.workspaces_max = std::optional<uint64_t>(3);
  keep->access().set_limits(actor, actor.principal(), changes);
  keep->workspaces().create(actor, "third");
  expect_clean();
}

TEST_F(UsageTest, VerifyCorrectsAWrongFigure) {
  put("a", "a");
  add_messages(1000);
  auto found = keep->upkeep().verify();
  ASSERT_EQ(found.problems.size(), 2u);
  EXPECT_EQ(usage().messages.bytes, 0);
  expect_clean();
}

TEST_F(UsageTest, ErasedPersonalDataIsNoLongerCounted) {
  put("a", "a");
  auto before = usage().journal;
  keep->journal().erase_personal(actor, actor.principal());
  EXPECT_LT(usage().journal.bytes, before.bytes);
  expect_clean();
}

TEST_F(UsageTest, OnlyAnAdministratorSeesTheUsageOfOthers) {
  auto ada = keep->access().create_principal(actor, "ada", "person");
  identity::NewKey wanted;
  wanted.name = "k";
  auto key = keep->access().create_key(actor, ada.id, wanted);
  auto hers = keep->access().authenticate(key.secret);
  EXPECT_EQ(keep->quotas().of_principal(actor, ada.id, 16).keys, 1u);
  EXPECT_EQ(keep->quotas().of_principal(hers, ada.id, 16).workspaces, 1u);
  EXPECT_EQ(code_of([&] { keep->quotas().of_principal(hers, actor.principal(), 16); }), Code::forbidden);
}

}  // namespace
}  // namespace sk::workspace
