#include "identity/access.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "unit/temp_dir.h"

namespace sk::identity {
namespace {

static_assert(!std::is_default_constructible_v<ReplayKey>, "only the interpreter's replay creates one");

// Remembers the calls; refuses to record when told to.
struct RememberedHooks final : TransactionHooks {
  void record(catalog::Tx&, const Actor&, std::string_view kind, const Json&, const Json&) override {
    if (refuse) throw Error(Code::internal, "the journal is full");
    recorded.emplace_back(kind);
  }
  void create_first_workspace(catalog::Tx&, const Author& owner) override { homes.push_back(owner.name); }
  bool is_member(catalog::Tx&, const Id&, const Id& workspace) override { return workspace == entered; }

  void end_use(const Id& key_or_principal) override { ended.push_back(key_or_principal); }

  bool refuse = false;
  std::vector<Id> ended;
  Id entered;
  std::vector<std::string> recorded, homes;
};

class IdentityTest : public testing::Test {
 protected:
  static constexpr size_t kKeysMax = 5;

  IdentityTest() {
    access.ensure_first_principal("a-root-key-for-tests");
    admin = access.authenticate("a-root-key-for-tests");
  }

  template <class Act>
  static Code code_of(const Act& act) {
    try {
      act();
    } catch (const Error& error) {
      return error.code();
    }
    ADD_FAILURE() << "nothing was thrown";
    return Code::internal;
  }

  TempDir dir;
  ManualClock clock{1'800'000'000'000'000};
  IdMaker ids{clock};
  std::unique_ptr<catalog::Database> db = catalog::open_sqlite(dir.path() + "/catalog.db", {});
  RememberedHooks hooks;
  Access access{*db, clock, ids, hooks, kKeysMax};
  Actor admin;
};

TEST_F(IdentityTest, ANewPrincipalIsRecordedAndGetsAWorkspace) {
  access.create_principal(admin, "robot", "agent");
  EXPECT_EQ(hooks.homes, (std::vector<std::string>{"admin", "robot"}));
  EXPECT_EQ(hooks.recorded, (std::vector<std::string>{"principal.create", "key.create", "principal.create"}));
}

TEST_F(IdentityTest, AChangeThatCannotBeRecordedIsNotMade) {
  hooks.refuse = true;
  EXPECT_EQ(code_of([&] { access.create_principal(admin, "robot", "agent"); }), Code::internal);
  EXPECT_EQ(code_of([&] { access.revoke_key(admin, admin.key()); }), Code::internal);
  hooks.refuse = false;
  EXPECT_EQ(access.list_principals(admin).size(), 1u);
  EXPECT_EQ(access.authenticate("a-root-key-for-tests").principal(), admin.principal());
}

TEST_F(IdentityTest, AKeyOpensOnlyAWorkspaceThatItsPrincipalMayEnter) {
  NewKey wanted;
  wanted.name = "k";
  wanted.only_workspace = hooks.entered = ids.next();
  EXPECT_FALSE(access.authenticate(access.create_key(admin, admin.principal(), wanted).secret).is_admin());
  wanted.only_workspace = ids.next();
  EXPECT_EQ(code_of([&] { access.create_key(admin, admin.principal(), wanted); }), Code::not_found);
}

TEST_F(IdentityTest, ASuspendedPrincipalIsRefusedUntilItIsResumed) {
  Id robot = access.create_principal(admin, "robot", "agent").id;
  NewKey wanted;
  wanted.name = "k";
  std::string secret = access.create_key(admin, robot, wanted).secret;
  Actor actor = access.authenticate(secret);
  EXPECT_TRUE(access.suspend(admin, robot).suspended_us);
  EXPECT_EQ(hooks.recorded.back(), "principal.suspend");
  EXPECT_EQ(hooks.ended, std::vector<Id>{robot});
  EXPECT_EQ(code_of([&] { access.authenticate(secret); }), Code::unauthorized);
  EXPECT_EQ(code_of([&] { access.create_key(actor, robot, wanted); }), Code::unauthorized);
  EXPECT_EQ(access.list_principals(admin).back().suspended_us, access.suspend(admin, robot).suspended_us)
      << "a second time changes nothing";
  EXPECT_FALSE(access.resume(admin, robot).suspended_us);
  EXPECT_EQ(access.authenticate(secret).principal(), robot);
}

TEST_F(IdentityTest, KeysAreLimitedAndOldInvalidOnesAreForgotten) {
  Id robot = access.create_principal(admin, "robot", "agent").id;
  NewKey wanted;
  wanted.name = "k";
  auto of_robot = [&] {
    auto keys = access.list_keys(admin);
    std::erase_if(keys, [&](const KeyInfo& key) { return key.principal != robot; });
    return keys;
  };
  auto first = access.create_key(admin, robot, wanted);
  for (size_t i = 1; i < kKeysMax; ++i) access.create_key(admin, robot, wanted);
  EXPECT_EQ(code_of([&] { access.create_key(admin, robot, wanted); }), Code::quota_exceeded);
  // One that replaces its key without end leaves a limited number of rows, and of marks.
  for (size_t i = 0; i < 3 * kKeysMax; ++i) {
    for (const KeyInfo& key : of_robot())
      if (!key.revoked_us) {
        access.revoke_key(admin, key.id);
        break;
      }
    access.create_key(admin, robot, wanted);
  }
  EXPECT_EQ(of_robot().size(), 2 * kKeysMax);
  EXPECT_FALSE(access.may_exist(first.secret));
  EXPECT_EQ(code_of([&] { access.authenticate(first.secret); }), Code::unauthorized);
}

TEST_F(IdentityTest, AnAdministratorSetsTheLimitsOfAPrincipal) {
  Id robot = access.create_principal(admin, "robot", "agent").id;
  NewKey wanted;
  wanted.name = "k";
  Actor actor = access.authenticate(access.create_key(admin, robot, wanted).secret);
  LimitChanges changes;
  changes.keys_max = std::optional<uint64_t>(1);
  changes.quota_bytes = std::optional<uint64_t>(7);
  EXPECT_EQ(code_of([&] { access.set_limits(actor, robot, changes); }), Code::forbidden);
  EXPECT_EQ(access.set_limits(admin, robot, changes).limits.keys_max, 1u);
  EXPECT_EQ(hooks.recorded.back(), "principal.limit");
  EXPECT_EQ(code_of([&] { access.create_key(actor, robot, wanted); }), Code::quota_exceeded);
  LimitChanges back;
  back.keys_max = std::optional<uint64_t>();
  auto limits = access.set_limits(admin, robot, back).limits;
  EXPECT_FALSE(limits.keys_max);
  EXPECT_EQ(limits.quota_bytes, 7u) << "a limit that is not named stays";
  EXPECT_EQ(access.list_principals(admin).back().limits.quota_bytes, 7u);
  access.create_key(actor, robot, wanted);
}

TEST_F(IdentityTest, ASuspendedSubjectOfATokenIsRefused) {
  Actor subject = access.actor_of_subject("librechat", "u1");
  access.suspend(admin, subject.principal());
  EXPECT_EQ(code_of([&] { access.actor_of_subject("librechat", "u1"); }), Code::unauthorized);
  access.resume(admin, subject.principal());
  EXPECT_EQ(access.actor_of_subject("librechat", "u1").principal(), subject.principal());
}

TEST_F(IdentityTest, OnlyAnAdministratorSuspendsAndNeverAnAdministrator) {
  Id robot = access.create_principal(admin, "robot", "agent").id;
  NewKey wanted;
  wanted.name = "k";
  Actor actor = access.authenticate(access.create_key(admin, robot, wanted).secret);
  EXPECT_EQ(code_of([&] { access.suspend(actor, admin.principal()); }), Code::forbidden);
  EXPECT_EQ(code_of([&] { access.resume(actor, robot); }), Code::forbidden);
  EXPECT_EQ(code_of([&] { access.suspend(admin, admin.principal()); }), Code::conflict);
  EXPECT_EQ(code_of([&] { access.suspend(admin, ids.next()); }), Code::not_found);
}

TEST_F(IdentityTest, WhetherAKeyExistsIsKnownWithoutTheCatalog) {
  NewKey wanted;
  wanted.name = "k";
  auto made = access.create_key(admin, admin.principal(), wanted);
  EXPECT_TRUE(access.may_exist("a-root-key-for-tests"));
  EXPECT_TRUE(access.may_exist(made.secret));
  EXPECT_FALSE(access.may_exist(made.secret + "x"));
  EXPECT_FALSE(access.may_exist(""));
  access.revoke_key(admin, made.info.id);
  EXPECT_TRUE(access.may_exist(made.secret)) << "its owner is told that it was revoked";
  Access after_restart(*db, clock, ids, hooks, kKeysMax);
  EXPECT_TRUE(after_restart.may_exist("a-root-key-for-tests"));
  EXPECT_TRUE(after_restart.may_exist(made.secret));
  EXPECT_FALSE(after_restart.may_exist("another"));
}

TEST_F(IdentityTest, AKeyThatCouldNotBeMadeDoesNotExist) {
  hooks.refuse = true;
  EXPECT_EQ(code_of([&] { access.ensure_first_principal("another-root-key-for-tests"); }), Code::internal);
  EXPECT_FALSE(access.may_exist("another-root-key-for-tests"));
}

TEST_F(IdentityTest, ARevokedKeyEndsItsUse) {
  NewKey wanted;
  wanted.name = "k";
  Id key = access.create_key(admin, admin.principal(), wanted).info.id;
  access.revoke_key(admin, key);
  EXPECT_EQ(hooks.ended, std::vector<Id>{key});
}

}  // namespace
}  // namespace sk::identity
