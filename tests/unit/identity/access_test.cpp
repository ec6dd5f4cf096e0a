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

  bool refuse = false;
  Id entered;
  std::vector<std::string> recorded, homes;
};

class IdentityTest : public testing::Test {
 protected:
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
  Access access{*db, clock, ids, hooks};
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

}  // namespace
}  // namespace sk::identity
