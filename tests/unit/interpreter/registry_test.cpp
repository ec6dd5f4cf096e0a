#include "interpreter/registry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "interpreter/live_session.h"

namespace sk::interpreter {
namespace {

TEST(RegistryTest, ASessionIsLentToOneCallerAtATime) {
  constexpr int kThreads = 4, kRounds = 500;
  Registry registry;
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

TEST(RegistryTest, ASessionThatIsLentIsNotLentAgain) {
  Registry registry;
  {
    auto lease = registry.acquire(Id{});
    EXPECT_FALSE(registry.try_acquire(Id{}));
  }
  EXPECT_TRUE(registry.try_acquire(Id{}));
}

}  // namespace
}  // namespace sk::interpreter
