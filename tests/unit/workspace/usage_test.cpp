#include "workspace/usage.h"

#include <set>

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
  EXPECT_EQ(seen.entries.count, 2);
  EXPECT_GT(seen.entries.bytes, 2 * kEntryRowBytes + 3 * kVersionRowBytes + kPlaceRowBytes);
  EXPECT_EQ(mine().bytes,
            static_cast<uint64_t>(seen.contents.bytes + seen.journal.bytes + seen.entries.bytes));
  EXPECT_EQ(mine().journal.bytes, seen.journal.bytes);
  EXPECT_EQ(mine().entries.bytes, seen.entries.bytes);
  EXPECT_EQ(mine().versions.count, 3);
  keep->files().empty_trash(ws);
  EXPECT_EQ(usage().versions.count, 2);
  EXPECT_EQ(usage().entries.count, 1);
  expect_clean();
}

TEST_F(UsageTest, AMovedFolderCountsTheNewPathsAndTheFormerPlaces) {
  apply(MkdirChange{"d", {}, {}, true, false});
  apply(MkdirChange{"d/x", {}, {}, true, false});
  int64_t before = usage().entries.bytes;
  apply(MoveChange{"d", "longer", OnExisting::refuse, {}});
  // Both paths are five bytes longer, and "d" and "d/x" are former places; a path is stored twice.
  EXPECT_EQ(usage().entries.bytes - before, 2 * (5 + 5) + 2 * kPlaceRowBytes + 2 * (1 + 2));
  expect_clean();
}

TEST_F(UsageTest, EveryWayOfAnEntryKeepsItsFigure) {
  put("\u00e4/b/c", "1");
  put("\u00e4/b/c", "2");
  const TimeUs then_us = clock.now_us();
  apply(MoveChange{"\u00e4", "somewhere/else", OnExisting::refuse, {}});
  CopyChange copied;
  copied.from = "somewhere";
  copied.to = "copy";
  apply(copied);
  expect_clean();
  Id copy = keep->files().get(ws, "copy").id;
  apply(TrashChange{"copy", {}});
  keep->files().restore(ws, copy, OnExisting::refuse, "a/much/longer/place", {});
  expect_clean();
  apply(SetModeChange{"a/much/longer/place/else/b/c", 0600, {}, {}});
  clock.advance_us(kSecondUs);
  keep->files().restore_as_of(ws, "", then_us, false);
  EXPECT_EQ(paths(), (std::vector<std::string>{"\u00e4/", "\u00e4/b/", "\u00e4/b/c"}));
  expect_clean();
  keep->files().empty_trash(ws);
  auto first = keep->files().versions(ws, keep->files().get(ws, "\u00e4/b/c").id, "", 10).items.back();
  keep->files().purge_version(ws, first.id);
  expect_clean();
  EXPECT_EQ(usage().entries.count, 3);
}

// An attacker filled the disk with folders and moves while the quota counted nothing.
TEST_F(UsageTest, FoldersAndMovesWithoutContentEndWithTheQuota) {
  keep->workspaces().change(ws, std::nullopt, 1 << 20);
  const std::string name(200, 'n');
  std::string folder = name;
  int made = 0;
  auto fill = [&] {
    for (; made < 10'000; ++made) {
      std::string path = folder + "/" + std::to_string(made) + name;
      apply(MkdirChange{path, {}, {}, true, false});
    }
  };
  EXPECT_EQ(code_of(fill), Code::quota_exceeded);
  auto seen = usage();
  EXPECT_LE(seen.counted_bytes, (2u << 20) + 10'000) << "the quota, and a MiB of records above it";
  EXPECT_GT(seen.entries.bytes, 1 << 20);
  EXPECT_EQ(code_of([&] { apply(MoveChange{folder, "m", OnExisting::refuse, {}}); }), Code::quota_exceeded);
  apply(TrashChange{folder, {}});
  keep->files().empty_trash(ws);
  EXPECT_EQ(usage().entries.count, 0);
  expect_clean();
}

TEST_F(UsageTest, WhatCodeCreatesWithoutContentIsRefusedToo) {
  put("a", "same");
  put("b", "b");
  add_messages(60ll << 30);
  std::vector<Change> changes;
  changes.emplace_back(MkdirChange{"folder", {}, {}, true, false});
  changes.emplace_back(put_change("copy-of-a", "same"));
  changes.emplace_back(MoveChange{"b", "c", OnExisting::refuse, {}});
  changes.emplace_back(TrashChange{"a", {}});
  auto applied = keep->files().apply_each(ws, std::move(changes));
  ASSERT_TRUE(applied[0].refused && applied[1].refused);
  EXPECT_EQ(applied[0].refused->code(), Code::quota_exceeded);
  EXPECT_EQ(applied[1].refused->code(), Code::quota_exceeded);
  EXPECT_TRUE(applied[2].result && applied[3].result) << "code has made them already";
  EXPECT_EQ(keep->upkeep().verify().problems.size(), 2u) << "only the messages, which nobody sent";
}

TEST_F(UsageTest, RecordsBeyondTheFirstMibCountForTheWorkspace) {
  keep->workspaces().change(ws, std::nullopt, 2 << 20);
  put("a", std::string(1 << 20, 'a'));
  add_messages(2 << 20);
  EXPECT_EQ(code_of([&] { put("b", "b"); }), Code::quota_exceeded);
  keep->quotas().check_room_for_records(ws, 0);
  add_messages(1 << 20);
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
  keep->quotas().check_room_for_records(ws, 0);
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

// Code that removes files can run and be recorded, and nothing grows without end.
TEST_F(UsageTest, OverTheQuotaOfAPrincipalAMibIsLeftForRecords) {
  put("a", "a");
  set_quota_of_principal(1);
  EXPECT_EQ(code_of([&] { put("c", "c"); }), Code::quota_exceeded);
  EXPECT_EQ(fact("quota_of"), "principal");
  apply(MkdirChange{"d", {}, {}, true, false});
  keep->quotas().check_room_for_records(ws, 1000);
  EXPECT_EQ(code_of([&] { keep->quotas().check_room_for_records(ws, 1 << 20); }), Code::quota_exceeded);
  add_messages(1 << 20);
  EXPECT_EQ(code_of([&] { apply(MkdirChange{"e", {}, {}, true, false}); }), Code::quota_exceeded);
  EXPECT_EQ(fact("quota_of"), "principal");
}

TEST_F(UsageTest, OverTheQuotaWhatIsThereCanBeRemoved) {
  auto first = put("a", std::string(2000, 'a'));
  put("a", "newer");
  std::vector<Change> changes;  // more than a MiB of records
  for (int i = 0; i < 2'000; ++i) changes.push_back(put_change("b", std::to_string(i)));
  keep->files().apply(ws, std::move(changes));
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

TEST_F(UsageTest, RevokingLinksOverAFullQuotaAddsOneEntryAndNoMore) {
  auto entries = [&] { return usage().journal.count; };
  int64_t before = entries();
  keep->workspaces().revoke_links(ws);
  keep->workspaces().revoke_links(ws);
  EXPECT_EQ(entries(), before + 2) << "within the quota, each is recorded";
  put("a", "a");
  add_messages(60ll << 30);
  auto version = *keep->files().find_version(ws, keep->files().get(ws, "a").head);
  before = entries();
  std::set<std::string> links;
  for (int i = 0; i < 10; ++i) {
    keep->workspaces().revoke_links(ws);
    links.insert(keep->links().signed_path_of(ws, version));
  }
  EXPECT_EQ(entries(), before + 1);
  EXPECT_EQ(links.size(), 10u) << "all of them are revoked";
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
  EXPECT_EQ(mine().trashed_workspaces.count, 1);
  EXPECT_GT(mine().trashed_workspaces.bytes, 0);
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
