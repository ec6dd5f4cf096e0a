#include "interpreter/sessions/registry.h"

#include <thread>

#include "interpreter/sessions/eviction.h"
#include "unit/interpreter/live_session_fixture.h"

namespace sk::interpreter {
namespace {

class RegistryTest : public LiveSessionTest {
 protected:
  Registry registry;
  const Id id = session.id;
};

TEST_F(RegistryTest, ALeaseIsHeldByOneAtATime) {
  std::optional<Registry::Lease> first(registry.acquire(id));
  EXPECT_FALSE(registry.try_acquire(id));
  EXPECT_TRUE(registry.try_acquire(keep.context().ids.next())) << "another session";
  std::atomic<bool> has_it{false};
  std::thread second([&] {
    auto lease = registry.acquire(id);
    has_it = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(has_it);
  first.reset();
  second.join();
  EXPECT_TRUE(has_it);
  EXPECT_TRUE(registry.try_acquire(id)) << "given back";
}

TEST_F(RegistryTest, AMovedLeaseIsGivenBackOnce) {
  auto lease = registry.acquire(id);
  {
    Registry::Lease moved = std::move(lease);
    EXPECT_FALSE(registry.try_acquire(id));
  }
  EXPECT_TRUE(registry.try_acquire(id));
}

TEST_F(RegistryTest, ASessionGoesFromAsleepToRunningAndBack) {
  play.on_execute = [&](const std::string&) { play.done(); };
  auto lease = registry.acquire(id);
  EXPECT_EQ(registry.phase(id), Phase::asleep);
  EXPECT_FALSE(lease.live());
  lease.wake(live);
  EXPECT_EQ(registry.phase(id), Phase::waking);
  EXPECT_EQ(registry.find(id), live);
  run("x");
  EXPECT_EQ(registry.phase(id), Phase::running);
  EXPECT_EQ(registry.all(), std::vector{live});
  lease.begin_end();
  EXPECT_EQ(registry.phase(id), Phase::ending);
  EXPECT_FALSE(registry.find(id)) << "one that ends gets no more calls";
  EXPECT_EQ(registry.find_any(id), live);
  EXPECT_TRUE(registry.all().empty());
  lease.end();
  EXPECT_EQ(registry.phase(id), Phase::asleep);
  EXPECT_FALSE(registry.find_any(id));
}

TEST_F(RegistryTest, ALiveSessionStaysWithoutItsLease) {
  registry.acquire(id).wake(live);
  EXPECT_EQ(registry.find(id), live);
  auto lease = registry.try_acquire(id);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->live(), live);
}

TEST_F(RegistryTest, NothingWakesOnceItIsClosed) {
  registry.close();
  auto lease = registry.acquire(id);
  EXPECT_THROW(lease.wake(live), Error);
  EXPECT_EQ(registry.phase(id), Phase::asleep);
}

class EvictionTest : public LiveSessionTest {
 protected:
  // A session that was last used so long ago.
  std::shared_ptr<LiveSession> idle(const Id& owner, int64_t seconds) {
    SessionInfo info = session;
    info.id = keep.context().ids.next();
    info.owner = owner;
    info.active_us = clock.now_us() - seconds * kSecondUs;
    return LiveSession::make(services, info);
  }
  std::shared_ptr<LiveSession> choose(const std::vector<std::shared_ptr<LiveSession>>& sessions,
                                      std::optional<Id> owner = {}, size_t sessions_max = 100) {
    return choose_evicted(sessions, mine, owner, sessions_max, clock.now_us());
  }

  const Id mine = actor.principal(), theirs = keep.context().ids.next();
};

TEST_F(EvictionTest, TheLongestIdleSessionOfThePrincipalWithMostIsEvicted) {
  auto few = idle(mine, 1000), older = idle(theirs, 500), newer = idle(theirs, 100);
  EXPECT_EQ(choose({few, newer, older}), older);
  EXPECT_EQ(choose({few, newer, older}, mine), few);
}

TEST_F(EvictionTest, ABusySessionStays) {
  auto busy = idle(theirs, 1000), other = idle(theirs, 100);
  busy->reserve();
  EXPECT_EQ(choose({busy, other}), other);
  other->reserve();
  EXPECT_FALSE(choose({busy, other}));
}

TEST_F(EvictionTest, OneThatWasUsedJustNowStaysUnlessItsOwnerHasTooMany) {
  auto one = idle(theirs, 0), two = idle(theirs, 0), three = idle(theirs, 0);
  EXPECT_FALSE(choose({one, two, three}, {}, 6));
  EXPECT_TRUE(choose({one, two, three}, {}, 4));
}

TEST_F(EvictionTest, OnesOwnSessionMakesRoomAlsoIfItWasUsedJustNow) {
  auto one = idle(mine, 0), other = idle(theirs, 0);
  EXPECT_EQ(choose({one, other}, mine), one);
  one->reserve();
  EXPECT_FALSE(choose({one, other}, mine)) << "unless it runs";
}

TEST_F(RegistryTest, ASessionIsLentToOneCallerAtATime) {
  constexpr int kThreads = 4, kRounds = 500;
  std::atomic<int> inside = 0, most = 0, rounds = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        auto lease = registry.acquire(Id{});
        most = std::max(most.load(), ++inside);
        std::this_thread::yield();
        --inside;
        ++rounds;
      }
    });
  threads.clear();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(rounds, kThreads * kRounds);
  EXPECT_EQ(registry.phase(Id{}), Phase::asleep);
}

}  // namespace
}  // namespace sk::interpreter
