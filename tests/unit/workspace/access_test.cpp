#include "keep_fixture.h"

namespace sk::workspace {
namespace {

TEST_F(KeepTest, KeysOpenWhatTheirScopeSaysAndNoMore) {
  auto other = keep->workspaces().create(actor, "other");
  identity::NewKey wanted;
  wanted.name = "reader";
  wanted.read_only = true;
  wanted.only_workspace = ws.workspace_id();
  auto made = keep->access().create_key(actor, actor.principal(), wanted);
  Actor reader = keep->access().authenticate(made.secret);
  EXPECT_FALSE(reader.is_admin());
  EXPECT_EQ(keep->workspaces().open(reader, "default").right(), Right::read);
  EXPECT_EQ(code_of([&] { keep->workspaces().open(reader, "default", Right::write); }), Code::forbidden);
  EXPECT_EQ(code_of([&] { keep->workspaces().open(reader, "other"); }), Code::not_found);
  EXPECT_EQ(code_of([&] { keep->workspaces().open(reader, other.id.with_prefix(prefix::workspace)); }),
            Code::not_found);
  EXPECT_EQ(code_of([&] { keep->access().create_key(reader, actor.principal(), {}); }), Code::forbidden);
}

TEST_F(KeepTest, RevokedExpiredAndUnknownKeysAreRefused) {
  identity::NewKey wanted;
  wanted.name = "k";
  auto revoked = keep->access().create_key(actor, actor.principal(), wanted);
  keep->access().authenticate(revoked.secret);
  keep->access().revoke_key(actor, revoked.info.id);
  EXPECT_EQ(code_of([&] { keep->access().authenticate(revoked.secret); }), Code::unauthorized);
  wanted.expires_us = clock.now_us() + kSecondUs;
  auto expiring = keep->access().create_key(actor, actor.principal(), wanted);
  keep->access().authenticate(expiring.secret);
  clock.advance_us(2 * kSecondUs);
  EXPECT_EQ(code_of([&] { keep->access().authenticate(expiring.secret); }), Code::unauthorized);
  EXPECT_EQ(code_of([&] { keep->access().authenticate("nonsense"); }), Code::unauthorized);
}

// Who may enter is remembered between requests; each change below must be noticed by the next one.
TEST_F(KeepTest, AccessIsCheckedAgainAfterEachChange) {
  auto& workspaces = keep->workspaces();
  auto principal = keep->access().create_principal(actor, "robot", "agent");
  Actor robot = actor_by_key(*keep, principal.id);
  auto id = workspaces.create(actor, "shared").id.with_prefix(prefix::workspace);
  auto shared = workspaces.open(actor, id, Right::own);
  EXPECT_EQ(code_of([&] { workspaces.enter(robot, "shared"); }), Code::not_found);
  workspaces.set_member(shared, principal.id, Right::write);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(workspaces.enter(robot, "shared", Right::write).workspace_id(), shared.workspace_id());

  identity::NewKey reading;
  reading.read_only = true;
  Actor reader = actor_by_key(*keep, principal.id, reading);
  EXPECT_EQ(code_of([&] { workspaces.enter(reader, "shared", Right::write); }), Code::forbidden);
  identity::NewKey bound;
  bound.only_workspace = workspaces.create(robot, "elsewhere").id;
  Actor elsewhere = actor_by_key(*keep, principal.id, bound);
  EXPECT_EQ(code_of([&] { workspaces.enter(elsewhere, "shared"); }), Code::not_found);

  workspaces.set_member(shared, principal.id, Right::read);
  EXPECT_EQ(code_of([&] { workspaces.enter(robot, "shared", Right::write); }), Code::forbidden);
  EXPECT_EQ(workspaces.enter(robot, "shared").right(), Right::read);

  workspaces.change(shared, "renamed", std::nullopt);
  EXPECT_EQ(code_of([&] { workspaces.enter(robot, "shared"); }), Code::not_found);
  EXPECT_EQ(workspaces.enter(robot, "renamed").workspace_id(), shared.workspace_id());

  auto made = workspaces.create(robot, "renamed").id.with_prefix(prefix::workspace);
  auto own = workspaces.open(robot, made, Right::own);
  EXPECT_EQ(workspaces.enter(robot, "renamed").workspace_id(), own.workspace_id()) << "one's own comes first";

  workspaces.trash(own);
  EXPECT_EQ(workspaces.enter(robot, "renamed").workspace_id(), shared.workspace_id());
  workspaces.restore(robot, made);
  EXPECT_EQ(workspaces.enter(robot, "renamed").workspace_id(), own.workspace_id());

  EXPECT_EQ(workspaces.enter(robot, id).workspace_id(), shared.workspace_id());
  workspaces.set_member(shared, principal.id, std::nullopt);
  EXPECT_EQ(code_of([&] { workspaces.enter(robot, id); }), Code::not_found);
}

TEST_F(KeepTest, AKeyThatExpiresMakesNoneThatOutlivesIt) {
  identity::NewKey wanted;
  wanted.name = "k";
  wanted.expires_us = clock.now_us() + 60 * kSecondUs;
  Actor lent =
      keep->access().authenticate(keep->access().create_key(actor, actor.principal(), wanted).secret);
  EXPECT_EQ(lent.expires_us(), wanted.expires_us);
  auto ends = [&](std::optional<TimeUs> asked_us) {
    identity::NewKey asked;
    asked.name = "k";
    asked.expires_us = asked_us;
    return keep->access().create_key(lent, lent.principal(), asked).info.expires_us;
  };
  EXPECT_EQ(ends(std::nullopt), wanted.expires_us);
  EXPECT_EQ(ends(*wanted.expires_us - 1), *wanted.expires_us - 1);
  EXPECT_EQ(ends(wanted.expires_us), wanted.expires_us);
  EXPECT_EQ(code_of([&] { ends(*wanted.expires_us + 1); }), Code::forbidden);
}

TEST_F(KeepTest, AnAdministratorSeesTheFiguresOfAWorkspaceButNotItsFiles) {
  auto principal = keep->access().create_principal(actor, "robot", "agent");
  auto theirs = keep->workspaces().open_for(actor, principal.id, "default");
  std::string id = theirs.id.with_prefix(prefix::workspace);
  EXPECT_NE(theirs.id, ws.workspace_id());
  EXPECT_EQ(keep->workspaces().look_at(actor, id).right(), Right::none);
  EXPECT_EQ(code_of([&] { keep->workspaces().open(actor, id); }), Code::not_found);
  auto seen = keep->workspaces().change(keep->workspaces().look_at(actor, id), std::nullopt, 7);
  EXPECT_EQ(seen.quota_bytes, 7u);
  auto outside = keep->workspaces().look_at(actor, id);
  EXPECT_EQ(code_of([&] { keep->workspaces().change(outside, "mine", std::nullopt); }), Code::forbidden);
  EXPECT_EQ(code_of([&] { keep->workspaces().trash(outside); }), Code::forbidden);
  EXPECT_EQ(code_of([&] { keep->files().list(outside, {}); }), Code::not_found);
  identity::NewKey elsewhere;
  elsewhere.name = "k";
  elsewhere.only_workspace = ws.workspace_id();
  EXPECT_EQ(code_of([&] { keep->access().create_key(actor, principal.id, elsewhere); }), Code::not_found);
}

TEST_F(KeepTest, SomeoneElsesWorkspaceDoesNotExistUntilOneIsAMember) {
  auto principal = keep->access().create_principal(actor, "robot", "agent");
  identity::NewKey wanted;
  wanted.name = "k";
  Actor robot = keep->access().authenticate(keep->access().create_key(actor, principal.id, wanted).secret);
  std::string id = ws.workspace_id().with_prefix(prefix::workspace);
  EXPECT_EQ(code_of([&] { keep->workspaces().open(robot, id); }), Code::not_found);
  EXPECT_NE(keep->workspaces().open(robot, "default").workspace_id(), ws.workspace_id());
  keep->workspaces().set_member(ws, principal.id, Right::read);
  EXPECT_EQ(keep->workspaces().open(robot, id).right(), Right::read);
  keep->workspaces().set_member(ws, principal.id, std::nullopt);
  EXPECT_EQ(code_of([&] { keep->workspaces().open(robot, id); }), Code::not_found);
  EXPECT_EQ(code_of([&] { keep->access().create_principal(robot, "x", "agent"); }), Code::forbidden);
}

TEST_F(KeepTest, ASubjectOfForeignTokensIsAlwaysTheSamePrincipal) {
  Actor anna = keep->access().actor_of_subject("chat", "anna");
  EXPECT_EQ(anna.name(), "chat:anna");
  EXPECT_FALSE(anna.is_admin());
  EXPECT_EQ(keep->workspaces().open_default(anna, Right::write).workspace().owner, anna.principal());
  EXPECT_EQ(keep->access().actor_of_subject("chat", "anna").principal(), anna.principal());
  EXPECT_NE(keep->access().actor_of_subject("chat", "ben").principal(), anna.principal());
  EXPECT_NE(keep->access().actor_of_subject("other", "anna").principal(), anna.principal());
  reopen();
  EXPECT_EQ(keep->access().actor_of_subject("chat", "anna").principal(), anna.principal());
}

TEST_F(KeepTest, ASubjectWithATakenNameIsAnotherPrincipal) {
  auto taken = keep->access().create_principal(actor, "chat:admin", "person");
  Actor admin = keep->access().actor_of_subject("chat", "admin");
  EXPECT_NE(admin.principal(), taken.id);
  EXPECT_EQ(admin.name(), "chat:admin (2)");
  std::string long_name;
  for (int i = 0; i < 80; ++i) long_name += "\u00e9";
  EXPECT_TRUE(is_utf8(keep->access().actor_of_subject("chat", long_name).name()));
  EXPECT_LE(keep->access().actor_of_subject("chat", long_name).name().size(), 100u);
}

TEST_F(KeepTest, TheRootKeyStaysAcrossRestartsAndSecretsAreNotStored) {
  reopen();
  EXPECT_EQ(keep->access().authenticate("a-root-key-for-tests").name(), "admin");
  keep.reset();
  for (const char* name : {"catalog.db", "catalog.db-wal"}) {
    if (!std::filesystem::exists(dir.file(name))) continue;
    EXPECT_EQ(read_file(dir.file(name)).find("a-root-key-for-tests"), std::string::npos);
  }
  open();
}

TEST_F(KeepTest, ASecondServerOnTheSameFolderIsRefused) {
  auto options = test::keep_options(dir.path());
  EXPECT_EQ(code_of([&] { Keep second(options, clock, metrics); }), Code::conflict);
}

TEST_F(KeepTest, ATrashedWorkspaceComesBackUnderAFreeName) {
  auto other = keep->workspaces().create(actor, "other");
  keep->workspaces().trash(keep->workspaces().open(actor, "other"));
  EXPECT_EQ(code_of([&] { keep->workspaces().open(actor, "other"); }), Code::not_found);
  keep->workspaces().create(actor, "other");
  auto restored = keep->workspaces().restore(actor, other.id.with_prefix(prefix::workspace));
  EXPECT_EQ(restored.name, "other (2)");
}

TEST_F(KeepTest, ASignedLinkOpensItsVersionUntilLinksAreRevoked) {
  auto one = *put("a.png", "1").version;
  auto two = *put("a.png", "2").version;
  std::string path = keep->links().signed_path_of(ws, one);
  std::string signature = path.substr(path.find("?s=") + 3);
  EXPECT_TRUE(keep->links().opens(one, signature));
  EXPECT_FALSE(keep->links().opens(two, signature));
  EXPECT_FALSE(keep->links().opens(one, ""));
  keep->workspaces().revoke_links(ws);
  EXPECT_FALSE(keep->links().opens(one, signature));
}

}  // namespace
}  // namespace sk::workspace
