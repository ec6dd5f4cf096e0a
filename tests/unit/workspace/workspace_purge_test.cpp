// The purge of a workspace: nothing of it is left but the record that it existed, and that its links are
// gone.
#include "workspace/workspace_purges.h"

#include "keep_fixture.h"

namespace sk::workspace {
namespace {

class WorkspacePurgeTest : public KeepTest {
 protected:
  // A workspace in the trash with files, versions, an upload, a lock, and trash of its own.
  void fill() {
    keep->workspaces().create(actor, "team");
    const Authority home = ws;
    ws = keep->workspaces().open(actor, "team", Right::own);
    first = *put("folder/a", "first").version;
    head = *put("folder/a", std::string(200'000, 'x')).version;
    put("b", "b");
    apply(MoveChange{"folder", "moved", OnExisting::refuse, {}});
    apply(TrashChange{"b", {}});
    NewUpload wanted;
    wanted.filename = "u";
    auto upload = keep->uploads().create(ws, wanted);
    keep->uploads().add_part(ws, upload.id, content("a part"));
    LockWanted lock;
    lock.path = "moved/a";
    auto held = keep->locks().acquire(ws, lock);
    keep->locks().release(ws, held.token);
    team = ws.workspace_id();
    ws = home;
  }
  void trash_team() { keep->workspaces().trash(keep->workspaces().open(actor, "team", Right::own)); }
  PurgeResult purge(const std::string& name = "team") {
    auto begun = keep->workspaces().begin_purge(actor, name);
    return purge_workspace(keep->context(), {begun.id, begun.owner}, [] { return true; });
  }
  size_t rows_with(catalog::Sql sql) {
    return keep->context().db.read([&](catalog::Statements& statements) {
      return statements.query(sql, {team}, [](const catalog::Row&) { return true; });
    });
  }
  PrincipalUsage mine() { return keep->quotas().of_principal(actor, actor.principal(), 16); }
  Actor new_actor(const std::string& name) {
    auto made = keep->access().create_principal(actor, name, "person");
    identity::NewKey wanted;
    wanted.name = "k";
    return keep->access().authenticate(keep->access().create_key(actor, made.id, wanted).secret);
  }

  Version first, head;
  Id team;
};

TEST_F(WorkspacePurgeTest, NothingIsLeftButTheIdsOfItsVersions) {
  put("mine", "stays");
  auto before = mine();
  fill();
  trash_team();
  auto result = purge();
  EXPECT_EQ(result.files, 3);  // moved, moved/a, b
  EXPECT_EQ(result.versions, 3);
  EXPECT_EQ(result.broken_links.size(), 3u);
  EXPECT_EQ(rows_with("SELECT 1 FROM workspaces WHERE id = $1"), 0u);
  EXPECT_EQ(rows_with("SELECT 1 FROM entries WHERE workspace = $1"), 0u);
  EXPECT_EQ(rows_with("SELECT 1 FROM placements WHERE workspace = $1"), 0u);
  EXPECT_EQ(rows_with("SELECT 1 FROM workspace_blobs WHERE workspace = $1"), 0u);
  EXPECT_EQ(rows_with("SELECT 1 FROM uploads WHERE workspace = $1"), 0u);
  EXPECT_EQ(rows_with("SELECT 1 FROM fences WHERE workspace = $1"), 0u);
  EXPECT_EQ(rows_with("SELECT 1 FROM journal WHERE workspace = $1"), 0u);
  EXPECT_EQ(rows_with("SELECT 1 FROM journals WHERE workspace = $1"), 0u);
  EXPECT_EQ(rows_with("SELECT 1 FROM members WHERE workspace = $1"), 0u);
  EXPECT_EQ(rows_with("SELECT 1 FROM workspace_usage WHERE workspace = $1"), 0u);
  EXPECT_EQ(rows_with("SELECT 1 FROM purges WHERE workspace = $1"), 0u);
  for (const Version& version : {first, head}) {
    EXPECT_EQ(code_of([&] { keep->files().find_version_anywhere(version.id); }), Code::gone);
  }
  keep->upkeep().collect();
  EXPECT_EQ(keep->upkeep().verify().blobs, 1) << "only that of the other workspace";
  auto after = mine();
  EXPECT_EQ(after.workspaces, before.workspaces);
  EXPECT_EQ(after.contents_bytes, before.contents_bytes);
  EXPECT_EQ(after.purged_workspaces.count, 1);
  EXPECT_EQ(after.purged_workspaces.bytes, 4 * kPurgedRowBytes);
  EXPECT_EQ(after.bytes, before.bytes + 4 * kPurgedRowBytes) << "the rows that stay are counted";
  expect_clean();
  keep->workspaces().create(actor, "team");
}

TEST_F(WorkspacePurgeTest, TheServersJournalKeepsWhoPurgedWhat) {
  fill();
  trash_team();
  purge();
  auto journal = ReadableJournal::of_server(actor);
  EventFilter filter;
  filter.kinds = {"workspace.purge"};
  auto events = keep->journal().events(journal, 0, 10, filter).items;
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].actor, actor.principal());
  EXPECT_EQ(events[0].facts["workspace_id"], team.with_prefix(prefix::workspace));
  EXPECT_EQ(events[0].facts["owner_id"], actor.principal().with_prefix(prefix::principal));
  EXPECT_EQ(events[0].facts["versions"], 3);
  EXPECT_GT(events[0].facts["journal_seq"], 5);
  EXPECT_EQ(events[0].personal["name"], "team");
}

TEST_F(WorkspacePurgeTest, OnlyWhatIsInTheTrashIsPurged) {
  fill();
  EXPECT_EQ(code_of([&] { purge(); }), Code::conflict);
  EXPECT_EQ(code_of([&] { purge("nothing"); }), Code::not_found);
  EXPECT_EQ(keep->workspaces().open(actor, "team").workspace_id(), team);
}

TEST_F(WorkspacePurgeTest, ANameThatSeveralHaveIsNotGuessed) {
  fill();
  trash_team();
  keep->workspaces().create(actor, "team");
  trash_team();
  EXPECT_EQ(code_of([&] { purge(); }), Code::conflict);
  EXPECT_EQ(purge(team.with_prefix(prefix::workspace)).files, 3);
  EXPECT_EQ(purge().files, 0) << "the other one, which is alone now";
  expect_clean();
}

TEST_F(WorkspacePurgeTest, OwnersAndAdministratorsPurge) {
  fill();
  Actor writer = new_actor("writer"), stranger = new_actor("stranger");
  auto opened = keep->workspaces().open(actor, "team", Right::own);
  keep->workspaces().set_member(opened, writer.principal(), Right::write);
  trash_team();
  const std::string id = team.with_prefix(prefix::workspace);
  EXPECT_EQ(code_of([&] { keep->workspaces().begin_purge(writer, id); }), Code::forbidden);
  EXPECT_EQ(code_of([&] { keep->workspaces().begin_purge(stranger, id); }), Code::not_found);
  // An administrator purges what is not its own, by the id.
  keep->workspaces().create(stranger, "hers");
  auto hers = keep->workspaces().open(stranger, "hers", Right::own);
  keep->workspaces().trash(hers);
  EXPECT_EQ(code_of([&] { keep->workspaces().begin_purge(actor, "hers"); }), Code::not_found);
  auto begun = keep->workspaces().begin_purge(actor, hers.workspace_id().with_prefix(prefix::workspace));
  EXPECT_EQ(begun.role, Right::none);
  purge_workspace(keep->context(), {begun.id, begun.owner}, [] { return true; });
  EXPECT_EQ(keep->quotas().of_principal(actor, stranger.principal(), 16).workspaces, 1u);
  expect_clean();
}

TEST_F(WorkspacePurgeTest, GoesOnAfterAKillAndCannotBeRestored) {
  fill();
  ws = keep->workspaces().open(actor, "team", Right::own);
  std::vector<Change> changes;
  for (int i = 0; i < 1'300; ++i)
    changes.push_back(put_change("many/" + std::to_string(i % 7) + "/" + std::to_string(i), "x"));
  keep->files().apply(ws, std::move(changes));
  trash_team();
  auto begun = keep->workspaces().begin_purge(actor, "team");
  int steps = 0;
  EXPECT_EQ(code_of([&] {
              purge_workspace(keep->context(), {begun.id, begun.owner}, [&] { return ++steps <= 2; });
            }),
            Code::unavailable);
  size_t left = rows_with("SELECT 1 FROM entries WHERE workspace = $1");
  EXPECT_GT(left, 0u);
  EXPECT_LT(left, 1'300u);
  reopen();
  EXPECT_TRUE(keep->workspaces().list_trashed(actor).empty());
  EXPECT_EQ(code_of([&] { keep->workspaces().restore(actor, "team"); }), Code::not_found);
  EXPECT_EQ(code_of([&] { keep->workspaces().begin_purge(actor, "team"); }), Code::not_found);
  expect_clean();
  keep->files().finish_purges();  // which are not those of workspaces
  auto unfinished = begun_workspace_purges(keep->context());
  ASSERT_EQ(unfinished.size(), 1u);
  purge_workspace(keep->context(), unfinished[0], [] { return true; });
  EXPECT_TRUE(begun_workspace_purges(keep->context()).empty());
  EXPECT_EQ(rows_with("SELECT 1 FROM workspaces WHERE id = $1"), 0u);
  expect_clean();
}

TEST_F(WorkspacePurgeTest, AFullQuotaDoesNotKeepItThere) {
  fill();
  identity::LimitChanges changes;
  changes.quota_bytes = std::optional<uint64_t>(1);
  keep->access().set_limits(actor, actor.principal(), changes);
  trash_team();
  EXPECT_EQ(purge().files, 3);
  expect_clean();
}

TEST_F(WorkspacePurgeTest, OtherRoomsDeleteTheirRowsInSteps) {
  fill();
  trash_team();
  size_t left = 7, calls = 0;
  keep->context().on_workspace_purge.emplace_back([&](catalog::Tx&, const Id& workspace, size_t) -> size_t {
    EXPECT_EQ(workspace, team);
    // Strict writes run every step twice.
    if (calls++ % 2 == 0 || left == 0) return left;
    return left--;
  });
  purge();
  EXPECT_EQ(left, 0u);
  expect_clean();
}

}  // namespace
}  // namespace sk::workspace
