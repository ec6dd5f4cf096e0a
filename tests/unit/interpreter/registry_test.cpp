#include "interpreter/sessions/registry.h"

#include <future>
#include <thread>

#include "interpreter/sessions/eviction.h"
#include "unit/interpreter/live_session_fixture.h"

namespace sk::interpreter {
namespace {

class RegistryTest : public LiveSessionTest {
 protected:
  static constexpr size_t kWaitingMax = 3;

  ~RegistryTest() override { callers.stop(); }

  // Waits until the pool has nothing more to do.
  void settle() {
    std::promise<void> done;
    callers.submit_always([&] { done.set_value(); });
    done.get_future().wait();
  }
  static Code code_of(const Later<Registry::Lease>& later) {
    try {
      later.get();
    } catch (const Error& error) {
      return error.code();
    }
    return Code::internal;
  }

  WorkerPool callers{1, 1000};
  Registry registry{callers, kWaitingMax};
  const Id id = session.id;
};

TEST_F(RegistryTest, ALeaseIsHeldByOneAtATime) {
  std::optional<Registry::Lease> first(registry.acquire(id).get());
  EXPECT_FALSE(registry.try_acquire(id));
  EXPECT_TRUE(registry.try_acquire(keep.context().ids.next())) << "another session";
  std::optional<Registry::Lease> held;
  registry.acquire(id).then([&](Result<Registry::Lease> lease) { held.emplace(lease.take()); });
  settle();
  EXPECT_FALSE(held) << "and this thread did not wait for it";
  first.reset();
  settle();
  EXPECT_TRUE(held);
  EXPECT_FALSE(registry.try_acquire(id)) << "handed over, never free in between";
  held.reset();
  EXPECT_TRUE(registry.try_acquire(id)) << "given back";
}

TEST_F(RegistryTest, CallersGetTheLeaseInTheirOrder) {
  std::optional<Registry::Lease> first(registry.acquire(id).get());
  std::vector<int> order;
  for (int number : {1, 2, 3})
    registry.acquire(id).then([&, number](const Result<Registry::Lease>&) { order.push_back(number); });
  first.reset();
  while (!registry.try_acquire(id)) settle();
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST_F(RegistryTest, AFullQueueRefusesAtOnce) {
  std::optional<Registry::Lease> first(registry.acquire(id).get());
  std::vector<Later<Registry::Lease>> waiting;
  for (size_t i = 0; i < kWaitingMax; ++i) waiting.push_back(registry.acquire(id));
  auto over = registry.acquire(id);
  ASSERT_TRUE(over.known());
  EXPECT_EQ(code_of(over), Code::too_many_requests);
  auto always = registry.acquire(id, Registry::Place::always);
  EXPECT_FALSE(always.known());
  EXPECT_TRUE(registry.acquire(keep.context().ids.next()).known()) << "another session has its own queue";
  EXPECT_TRUE(waiting.back().give_up());
  waiting.pop_back();
  EXPECT_TRUE(waiting.front().give_up());
  EXPECT_FALSE(registry.acquire(id).known()) << "there is room again";
  first.reset();
  EXPECT_EQ(waiting.back().get().id(), id);
  EXPECT_EQ(always.get().id(), id);
}

TEST_F(RegistryTest, ACallerThatGivesUpIsRemovedAndNeverCalled) {
  std::optional<Registry::Lease> first(registry.acquire(id).get());
  auto called = std::make_shared<std::atomic<bool>>(false);
  auto waiting = registry.acquire(id);
  auto mapped = waiting.map([called](const Registry::Lease&) {
    *called = true;
    return Done{};
  });
  EXPECT_EQ(called.use_count(), 2);
  EXPECT_TRUE(mapped.give_up());
  EXPECT_EQ(called.use_count(), 1) << "its callback is destroyed";
  EXPECT_FALSE(mapped.give_up());
  first.reset();
  settle();
  EXPECT_FALSE(*called);
  EXPECT_TRUE(registry.try_acquire(id));
}

TEST_F(RegistryTest, ALeaseThatNobodyTakesIsGivenBack) {
  std::optional<Registry::Lease> first(registry.acquire(id).get());
  {
    auto waiting = registry.acquire(id);
    first.reset();
    settle();
    EXPECT_TRUE(waiting.known());
    EXPECT_FALSE(waiting.give_up()) << "too late";
    EXPECT_FALSE(registry.try_acquire(id));
  }
  EXPECT_TRUE(registry.try_acquire(id));
}

TEST_F(RegistryTest, AMovedLeaseIsGivenBackOnce) {
  auto lease = registry.acquire(id).get();
  {
    Registry::Lease moved = std::move(lease);
    EXPECT_FALSE(registry.try_acquire(id));
  }
  EXPECT_TRUE(registry.try_acquire(id));
}

TEST_F(RegistryTest, ASessionGoesFromAsleepToRunningAndBack) {
  play.on_execute = [&](const std::string&) { play.done(); };
  auto lease = registry.acquire(id).get();
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
  EXPECT_EQ(registry.ending(), std::vector{live});
  lease.end();
  EXPECT_TRUE(registry.ending().empty());
  EXPECT_EQ(registry.phase(id), Phase::asleep);
  EXPECT_FALSE(registry.find_any(id));
}

TEST_F(RegistryTest, ALiveSessionStaysWithoutItsLease) {
  registry.acquire(id).get().wake(live);
  EXPECT_EQ(registry.find(id), live);
  auto lease = registry.try_acquire(id);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->live(), live);
}

TEST_F(RegistryTest, NothingWakesOnceItIsClosed) {
  registry.close();
  auto lease = registry.acquire(id).get();
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
  constexpr int kThreads = 3, kRounds = 500;
  std::atomic<int> inside = 0, most = 0, rounds = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        auto lease = registry.acquire(Id{}).get();
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
