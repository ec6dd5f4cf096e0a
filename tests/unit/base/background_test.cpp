#include "base/background.h"

#include <gtest/gtest.h>

#include <future>

namespace sk {
namespace {

TEST(Background, RunsTimersInTheOrderOfTheirTimes) {
  Background background;
  std::mutex mutex;
  std::vector<int> order;
  std::promise<void> all;
  auto job = [&](int number) {
    return [&, number] {
      std::lock_guard lock(mutex);
      order.push_back(number);
      if (order.size() == 3) all.set_value();
    };
  };
  background.run_after(std::chrono::milliseconds(60), job(3));
  background.run_after(std::chrono::milliseconds(30), job(2));
  background.run(job(1));
  all.get_future().wait();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(Background, DropsTimersThatAreNotDueWhenItStops) {
  std::atomic<bool> ran = false;
  Background background;
  background.run_after(std::chrono::hours(1), [&] { ran = true; });
  background.stop();
  EXPECT_FALSE(ran);
  EXPECT_TRUE(background.stopping());
}

TEST(Background, FinishesWhatIsQueuedWhenItStops) {
  std::atomic<int> ran = 0;
  Background background;
  for (int i = 0; i < 100; ++i) background.run([&] { ++ran; });
  ASSERT_TRUE(background.run_chore([&] { ++ran; }));
  background.stop();
  EXPECT_EQ(ran, 101);
}

TEST(Background, RefusesMoreChoresThanMayWait) {
  std::promise<void> go;
  auto wait = go.get_future().share();
  Background background;
  int taken = 0;
  for (int i = 0; i < 50; ++i) taken += background.run_chore([wait] { wait.wait(); }) ? 1 : 0;
  go.set_value();
  EXPECT_LT(taken, 50);
  EXPECT_GE(taken, 2);
}

}  // namespace
}  // namespace sk
