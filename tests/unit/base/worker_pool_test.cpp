#include "base/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <set>

namespace sk {
namespace {

TEST(WorkerPool, RunsEveryJobThatItAccepted) {
  std::atomic<int> ran = 0;
  {
    WorkerPool pool(4, 10'000);
    for (int i = 0; i < 5'000; ++i) ASSERT_TRUE(pool.submit([&] { ++ran; }));
  }
  EXPECT_EQ(ran, 5'000);
}

TEST(WorkerPool, OneThreadRunsJobsInOrderOfArrival) {
  std::vector<int> order;
  {
    WorkerPool pool(1, 100);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(pool.submit([&order, i] { order.push_back(i); }));
  }
  ASSERT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(WorkerPool, RefusesJobsBeyondItsQueueButTakesThoseThatMayNotBeRefused) {
  WorkerPool pool(1, 2);
  std::latch started(1);
  std::promise<void> gate;
  auto opened = gate.get_future().share();
  std::atomic<int> ran = 0;
  ASSERT_TRUE(pool.submit([&] {
    started.count_down();
    opened.wait();
  }));
  started.wait();
  EXPECT_TRUE(pool.submit([&] { ++ran; }));
  EXPECT_TRUE(pool.submit([&] { ++ran; }));
  EXPECT_FALSE(pool.submit([&] { ran += 100; }));
  pool.submit_always([&] { ++ran; });
  gate.set_value();
  pool.stop();
  EXPECT_EQ(ran, 3);
}

TEST(WorkerPool, ThreadsWorkAtTheSameTime) {
  WorkerPool pool(2, 10);
  std::latch both(2);
  std::promise<void> first, second;
  // Each job waits for the other: with a single thread this would never end.
  ASSERT_TRUE(pool.submit([&] {
    both.arrive_and_wait();
    first.set_value();
  }));
  ASSERT_TRUE(pool.submit([&] {
    both.arrive_and_wait();
    second.set_value();
  }));
  first.get_future().wait();
  second.get_future().wait();
}

TEST(WorkerPool, AfterStopNothingIsAcceptedAndStopMayBeCalledAgain) {
  WorkerPool pool(2, 10);
  std::atomic<int> ran = 0;
  ASSERT_TRUE(pool.submit([&] { ++ran; }));
  pool.stop();
  EXPECT_EQ(ran, 1);
  EXPECT_FALSE(pool.submit([&] { ++ran; }));
  pool.stop();
  EXPECT_EQ(ran, 1);
}

TEST(WorkerPool, TheLoadCountsThreadsRunningAndWaitingJobs) {
  WorkerPool pool(2, 10);
  std::latch both(3);
  std::promise<void> go_on;
  auto until_told = go_on.get_future().share();
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(pool.submit([&, until_told] {
      both.arrive_and_wait();
      until_told.wait();
    }));
  both.arrive_and_wait();
  ASSERT_TRUE(pool.submit([] {}));
  auto load = pool.load();
  EXPECT_EQ(load.threads, 2u);
  EXPECT_EQ(load.running, 2u);
  EXPECT_EQ(load.waiting, 1u);
  go_on.set_value();
  pool.stop();
  EXPECT_EQ(pool.load().running, 0u);
  EXPECT_EQ(pool.load().waiting, 0u);
}

}  // namespace
}  // namespace sk
