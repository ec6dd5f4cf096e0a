#include "api/common/background.h"

#include <gtest/gtest.h>

#include <future>

#include "api/common/watch.h"

namespace sk::api {
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

TEST(Watch, HearsOfEveryChangeOrOfALaterOne) {
  workspace::Feed feed;
  Background background;
  Id workspace = *Id::from_hex("00000000000000000000000000000001");
  std::atomic<int> changes = 0;
  std::atomic<int> seen = 0;  // what the last call saw
  std::atomic<int> running = 0;
  {
    Watch watch(feed, background, workspace, [&] {
      EXPECT_EQ(++running, 1) << "two calls overlap";
      seen = changes.load();
      --running;
    });
    for (int i = 0; i < 1000; ++i) {
      ++changes;
      feed.notify(workspace);
    }
    background.stop();
  }
  EXPECT_EQ(seen, 1000);
}

TEST(Watch, HearsNothingOfOtherWorkspacesNorAfterItsEnd) {
  workspace::Feed feed;
  Background background;
  Id mine = *Id::from_hex("00000000000000000000000000000001");
  Id other = *Id::from_hex("00000000000000000000000000000002");
  std::atomic<int> calls = 0;
  {
    Watch watch(feed, background, mine, [&] { ++calls; });
    feed.notify(other);
  }
  feed.notify(mine);
  background.stop();
  EXPECT_EQ(calls, 0);
}

TEST(Watch, MayBeDestroyedByItsOwnLastCall) {
  workspace::Feed feed;
  Background background;
  Id workspace = *Id::from_hex("00000000000000000000000000000001");
  struct Owner {
    std::optional<Watch> watch;
    std::promise<void> gone;
    ~Owner() { gone.set_value(); }
  };
  auto owner = std::make_shared<Owner>();
  auto gone = owner->gone.get_future();
  std::promise<void> inside, go;
  owner->watch.emplace(feed, background, workspace, [weak = std::weak_ptr(owner), &inside, &go] {
    auto strong = weak.lock();
    inside.set_value();
    go.get_future().wait();
  });
  owner->watch->poke();
  inside.get_future().wait();
  owner.reset();
  go.set_value();
  gone.wait();
}

}  // namespace
}  // namespace sk::api
