#include "workspace/revocations.h"

#include <future>

#include "unit/workspace/keep_fixture.h"

namespace sk::workspace {
namespace {

class RevocationsTest : public KeepTest {
 protected:
  RevocationsTest() {
    guest = keep->access().create_principal(actor, "guest", "person").id;
    keep->workspaces().set_member(ws, guest, Right::write);
  }

  Authority enter(const Actor& who, Right right = Right::read) {
    return keep->workspaces().enter(who, ws.workspace_id().with_prefix(prefix::workspace), right);
  }

  // The error with which a watch ended.
  struct Watched {
    // Shared with the callback, which may still run when the test ends.
    std::shared_ptr<std::promise<Code>> ended = std::make_shared<std::promise<Code>>();
    std::future<Code> code = ended->get_future();
    RightWatch watch;

    Code await() {
      return code.wait_for(std::chrono::seconds(60)) == std::future_status::ready ? code.get()
                                                                                  : Code::internal;
    }
    bool has_ended() { return code.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
  };
  std::unique_ptr<Watched> watch(const Authority& authority, Right right = Right::write) {
    auto made = std::make_unique<Watched>();
    made->watch = revocations().watch(authority, right, on_end(*made));
    return made;
  }
  std::unique_ptr<Watched> watch_key(const Actor& who) {
    auto made = std::make_unique<Watched>();
    made->watch = revocations().watch_key(who, on_end(*made));
    return made;
  }
  Revocations& revocations() { return keep->revocations(); }

  Id guest;

 private:
  static Revocations::OnEnd on_end(const Watched& watched) {
    return [ended = watched.ended](const Error& error) { ended->set_value(error.code()); };
  }
};

TEST_F(RevocationsTest, ARevokedKeyEndsItsOwnWatchesAndNoOthers) {
  Actor one = actor_by_key(*keep, guest), other = actor_by_key(*keep, guest);
  auto ends = watch(enter(one)), goes_on = watch(enter(other));
  auto key_ends = watch_key(one), key_goes_on = watch_key(other);
  revocations().start();
  keep->access().revoke_key(actor, one.key());
  EXPECT_EQ(ends->await(), Code::unauthorized);
  EXPECT_EQ(key_ends->await(), Code::unauthorized);
  EXPECT_FALSE(goes_on->has_ended());
  EXPECT_FALSE(key_goes_on->has_ended());
  goes_on->watch.check();
}

TEST_F(RevocationsTest, ALowerRoleEndsWhatWritesAndNotWhatReads) {
  Authority authority = enter(actor_by_key(*keep, guest));
  auto writes = watch(authority, Right::write), reads = watch(authority, Right::read);
  revocations().start();
  keep->workspaces().set_member(ws, guest, Right::read);
  EXPECT_EQ(writes->await(), Code::forbidden);
  reads->watch.check();
  EXPECT_FALSE(reads->has_ended());
  keep->workspaces().set_member(ws, guest, std::nullopt);
  EXPECT_EQ(reads->await(), Code::not_found);
}

TEST_F(RevocationsTest, ATrashedWorkspaceEndsWhatGoesOnInItAndNotTheKey) {
  Actor who = actor_by_key(*keep, guest);
  auto inside = watch(enter(who)), key = watch_key(who);
  revocations().start();
  keep->workspaces().trash(ws);
  EXPECT_EQ(inside->await(), Code::not_found);
  key->watch.check();
  EXPECT_FALSE(key->has_ended());
}

TEST_F(RevocationsTest, ASuspendedPrincipalEndsWithAllItsKeysUntilItIsResumed) {
  Actor one = actor_by_key(*keep, guest), other = actor_by_key(*keep, guest);
  auto first = watch(enter(one)), second = watch_key(other), admins = watch_key(actor);
  revocations().start();
  keep->access().suspend(actor, guest);
  EXPECT_EQ(first->await(), Code::unauthorized);
  EXPECT_EQ(second->await(), Code::unauthorized);
  EXPECT_FALSE(admins->has_ended());
  EXPECT_EQ(code_of([&] { watch_key(one); }), Code::unauthorized);
  keep->access().resume(actor, guest);
  watch_key(one)->watch.check();
}

TEST_F(RevocationsTest, AnExpiredKeyEndsWithoutAnAnnouncement) {
  identity::NewKey wanted;
  wanted.expires_us = clock.now_us() + 60 * kSecondUs;
  auto ends = watch(enter(actor_by_key(*keep, guest, wanted))), goes_on = watch_key(actor);
  revocations().start();
  ends->watch.check();
  clock.advance_us(61 * kSecondUs);
  EXPECT_EQ(code_of([&] { ends->watch.check(); }), Code::unauthorized);
  EXPECT_EQ(ends->await(), Code::unauthorized);
  EXPECT_FALSE(goes_on->has_ended());
}

TEST_F(RevocationsTest, ACheckSeesARevocationBeforeTheThreadDoes) {
  Actor who = actor_by_key(*keep, guest);
  auto watched = watch(enter(who));
  watched->watch.check();
  keep->access().revoke_key(actor, who.key());
  EXPECT_EQ(code_of([&] { watched->watch.check(); }), Code::unauthorized);
  EXPECT_FALSE(watched->has_ended()) << "the thread has not been started";
  revocations().start();
  EXPECT_EQ(watched->await(), Code::unauthorized) << "what was announced before the start counts";
}

TEST_F(RevocationsTest, ARightThatEndedAfterItsCheckCannotBeWatched) {
  Actor who = actor_by_key(*keep, guest);
  Authority authority = enter(who);
  auto before = revocations().now();
  keep->access().revoke_key(actor, who.key());
  auto ignore = [](const Error&) {};
  EXPECT_EQ(code_of([&] { (void)revocations().watch_key(who, ignore, before); }), Code::unauthorized);
  EXPECT_EQ(code_of([&] { (void)revocations().watch(authority, Right::read, ignore); }), Code::unauthorized);
}

TEST_F(RevocationsTest, AWatchThatWasDestroyedIsNotCalled) {
  Actor who = actor_by_key(*keep, guest);
  auto kept = watch_key(who);
  auto gone = revocations().watch_key(who, [](const Error&) { ADD_FAILURE() << "it was destroyed"; });
  gone = RightWatch();
  revocations().start();
  keep->access().revoke_key(actor, who.key());
  EXPECT_EQ(kept->await(), Code::unauthorized);
  RightWatch().check();  // watches nothing
}

TEST_F(RevocationsTest, MoreAnnouncementsThanAreRememberedAskEverybody) {
  Actor who = actor_by_key(*keep, guest);
  auto watched = watch_key(who);
  keep->context().db.write(catalog::Scope::installation(), [&](catalog::Tx& tx) {
    tx.exec("UPDATE keys SET revoked_us = 1 WHERE id = $1", {who.key()});
  });
  for (int i = 0; i < 5000; ++i) revocations().announce(keep->context().ids.next());
  revocations().start();
  EXPECT_EQ(watched->await(), Code::unauthorized);
}

}  // namespace
}  // namespace sk::workspace
