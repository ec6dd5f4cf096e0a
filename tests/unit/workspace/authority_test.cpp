#include "workspace/authority.h"

#include "keep_fixture.h"

namespace sk::workspace {
namespace {

// A member of the administrator's workspace who has opened it, and each kind of write that is under way then.
class AuthorityTest : public KeepTest {
 protected:
  AuthorityTest() { keep->workspaces().set_member(ws, member.id, Right::own); }

  Authority opened() {
    return keep->workspaces().open(robot, ws.workspace_id().with_prefix(prefix::workspace), Right::own);
  }

  std::map<std::string, std::function<void()>> writes(const Authority& authority) {
    put("a", "1");
    auto old = put("a", "2").entry;
    put("trashed", "1");
    auto trashed = apply(TrashChange{"trashed", {}}).entry.id;
    auto lock = keep->locks().acquire(ws, {.path = "locked", .purpose = ""});
    auto upload = keep->uploads().create(opened(), {.filename = "big.bin", .mime = "", .size = 3}).id;
    auto versions = keep->files().versions(ws, old.id, "", 2).items;
    auto& files = keep->files();
    auto& locks = keep->locks();
    auto& uploads = keep->uploads();
    auto& workspaces = keep->workspaces();
    return {
        {"apply", [=, this, &files] { files.apply_one(authority, put_change("new", "x")); }},
        {"apply_each", [=, this, &files] { files.apply_each(authority, {put_change("new", "x")}); }},
        {"restore", [=, &files] { files.restore(authority, trashed, OnExisting::rename); }},
        {"purge", [=, &files] { files.purge(authority, trashed); }},
        {"purge_version", [=, &files] { files.purge_version(authority, versions[1].id); }},
        {"empty_trash", [=, &files] { files.empty_trash(authority); }},
        {"restore_as_of", [=, &files] { files.restore_as_of(authority, "a", old.created_us, false); }},
        {"lock", [=, &locks] { locks.acquire(authority, {.path = "b", .purpose = ""}); }},
        {"renew", [=, &locks] { locks.renew(authority, lock.token, 60); }},
        {"release", [=, &locks] { locks.release(authority, lock.token); }},
        {"break_lock", [=, &locks] { locks.break_lock(authority, lock.id); }},
        {"upload",
         [=, &uploads] { uploads.create(authority, {.filename = "c.bin", .mime = "", .size = 3}); }},
        {"part", [=, this, &uploads] { uploads.add_part(authority, upload, content("abc")); }},
        {"append", [=, this, &uploads] { uploads.append(authority, upload, 0, content("abc")); }},
        {"cancel", [=, &uploads] { uploads.cancel(authority, upload); }},
        {"rename", [=, &workspaces] { workspaces.change(authority, "mine", std::nullopt); }},
        {"revoke_links", [=, &workspaces] { workspaces.revoke_links(authority); }},
        {"set_member", [=, this, &workspaces] { workspaces.set_member(authority, member.id, Right::read); }},
        {"trash", [=, &workspaces] { workspaces.trash(authority); }},
    };
  }

  // Every write is refused, after `change` took place, and leaves no trace.
  void expect_refused(const std::function<void()>& change, Code code) {
    auto under_way = writes(opened());
    change();
    auto seq = keep->journal().head_seq(ws);
    for (const auto& [name, write] : under_way) EXPECT_EQ(code_of(write), code) << name;
    EXPECT_EQ(keep->journal().head_seq(ws), seq);
    EXPECT_EQ(bytes_at("a"), "2");
    expect_clean();
  }

  identity::Principal member = keep->access().create_principal(actor, "robot", "agent");
  Actor robot = actor_by_key(*keep, member.id);
};

TEST_F(AuthorityTest, AKeyThatIsRevokedBeforeAWriteChangesNothing) {
  expect_refused([&] { keep->access().revoke_key(actor, robot.key()); }, Code::unauthorized);
}

// What a thief would do with a key that is being taken away.
TEST_F(AuthorityTest, ARevokedKeyMakesNoKeysPrincipalsOrWorkspaces) {
  auto mine = actor_by_key(*keep, actor.principal());
  auto other = actor_by_key(*keep, actor.principal());
  keep->access().revoke_key(actor, mine.key());
  auto& access = keep->access();
  const std::map<std::string, std::function<void()>> calls = {
      {"key",
       [&] {
         access.create_key(mine, mine.principal(), {.name = "k", .only_workspace = {}, .expires_us = {}});
       }},
      {"principal", [&] { access.create_principal(mine, "another", "agent"); }},
      {"revoke", [&] { access.revoke_key(mine, other.key()); }},
      {"workspace", [&] { keep->workspaces().create(mine, "another"); }},
      {"restore", [&] { keep->workspaces().restore(mine, "default"); }},
  };
  for (const auto& [name, call] : calls) EXPECT_EQ(code_of(call), Code::unauthorized) << name;
}

TEST_F(AuthorityTest, AKeyThatExpiresBeforeAWriteChangesNothing) {
  identity::NewKey wanted;
  wanted.expires_us = clock.now_us() + 60 * kSecondUs;
  robot = actor_by_key(*keep, member.id, wanted);
  expect_refused([&] { clock.advance_us(60 * kSecondUs); }, Code::unauthorized);
}

TEST_F(AuthorityTest, AMemberWhoIsRemovedBeforeAWriteChangesNothing) {
  expect_refused([&] { keep->workspaces().set_member(ws, member.id, std::nullopt); }, Code::not_found);
}

TEST_F(AuthorityTest, AMemberWhoMayOnlyReadByNowChangesNothing) {
  expect_refused([&] { keep->workspaces().set_member(ws, member.id, Right::read); }, Code::forbidden);
}

TEST_F(AuthorityTest, ATrashedWorkspaceIsNotWrittenTo) {
  auto authority = opened();
  keep->workspaces().trash(ws);
  EXPECT_EQ(code_of([&] { keep->files().apply_one(authority, put_change("new", "x")); }), Code::not_found);
}

TEST_F(AuthorityTest, APrincipalWithATokenIsCheckedAsAMember) {
  auto anna = keep->access().actor_of_subject("chat", "anna");
  keep->workspaces().set_member(ws, anna.principal(), Right::write);
  auto authority = keep->workspaces().open(anna, ws.workspace_id().with_prefix(prefix::workspace));
  EXPECT_EQ(authority.origin(), Authority::Origin::token);
  keep->files().apply_one(authority, put_change("first", "x"));
  keep->workspaces().set_member(ws, anna.principal(), std::nullopt);
  EXPECT_EQ(code_of([&] { keep->files().apply_one(authority, put_change("new", "x")); }), Code::not_found);
}

TEST_F(AuthorityTest, TheServersOwnWorkGoesOnWhenAKeyIsRevoked) {
  auto authority = system_authority(ws.workspace_id(), robot, "a test of what the server does by itself");
  keep->access().revoke_key(actor, robot.key());
  keep->workspaces().set_member(ws, member.id, std::nullopt);
  auto made = keep->files().apply_one(authority, put_change("new", "x"));
  EXPECT_EQ(made.version->author, member.id);
  EXPECT_EQ(authority.origin(), Authority::Origin::system);
  EXPECT_FALSE(authority.reason().empty());
}

// Its author is named in records, and has no rights elsewhere by it.
TEST_F(AuthorityTest, TheServersOwnAuthorityReachesNoOtherWorkspace) {
  auto theirs = keep->workspaces().open_default(robot, Right::write);
  keep->files().apply_one(theirs, put_change("secret", "x"));
  auto authority = system_authority(ws.workspace_id(), robot, "a test of what the server does by itself");
  EXPECT_FALSE(authority.actor().principal());
  EXPECT_EQ(authority.author().principal, member.id);
  CopyChange copy;
  copy.from = "secret";
  copy.from_workspace = theirs.workspace_id();
  copy.to = "stolen";
  EXPECT_EQ(code_of([&] { keep->files().apply_one(authority, copy); }), Code::not_found);
}

TEST_F(AuthorityTest, TheStandingOfAnActorIsItsRoleOrNone) {
  auto& workspaces = keep->workspaces();
  auto id = ws.workspace_id();
  EXPECT_EQ(workspaces.standing(robot, id).right(), Right::own);
  workspaces.trash(ws);
  auto none = workspaces.standing(robot, id);
  EXPECT_EQ(none.right(), Right::none);
  EXPECT_EQ(none.workspace_id(), id);
  EXPECT_EQ(workspaces.standing(robot, workspaces.create(actor, "other").id).right(), Right::none);
  EXPECT_EQ(code_of([&] { keep->files().find(none, "a"); }), Code::not_found);
}

TEST_F(AuthorityTest, ADescriptionHasTheFiguresOfNow) {
  put("a", "12345");
  auto authority = system_authority(ws.workspace_id(), robot, "a test of what the server does by itself");
  EXPECT_EQ(keep->workspaces().describe(authority).used_bytes, 5u);
  EXPECT_EQ(keep->workspaces().describe(authority).role, Right::own);
}

TEST_F(AuthorityTest, NothingIsCopiedFromAWorkspaceThatTheActorMayNotRead) {
  auto theirs = keep->workspaces().open_default(robot, Right::write);
  keep->files().apply_one(theirs, put_change("secret", "x"));
  CopyChange copy;
  copy.from = "secret";
  copy.from_workspace = theirs.workspace_id();
  copy.to = "stolen";
  EXPECT_EQ(code_of([&] { apply(copy); }), Code::not_found);
  EXPECT_FALSE(keep->files().find(ws, "stolen"));
  keep->workspaces().set_member(theirs, actor.principal(), Right::read);
  apply(copy);
  EXPECT_EQ(bytes_at("stolen"), "x");
}

TEST_F(AuthorityTest, ItCarriesNoMoreThanItsKey) {
  identity::NewKey reading;
  reading.read_only = true;
  auto reader = actor_by_key(*keep, member.id, reading);
  auto authority = keep->workspaces().open(reader, ws.workspace_id().with_prefix(prefix::workspace));
  EXPECT_EQ(authority.right(), Right::read);
  EXPECT_EQ(code_of([&] { authority.need(Right::write); }), Code::forbidden);
  EXPECT_EQ(code_of([&] { keep->files().apply_one(authority, put_change("new", "x")); }), Code::forbidden);
  EXPECT_EQ(code_of([&] { keep->locks().acquire(authority, {.path = "b", .purpose = ""}); }),
            Code::forbidden);
}

}  // namespace
}  // namespace sk::workspace
