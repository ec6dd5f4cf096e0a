#include "interpreter/run/strand.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

namespace sk::interpreter {
namespace {

struct StrandOwner {
  explicit StrandOwner(FairPool& pool) : strand(pool, Id{}) {}
  Strand strand;
};

class StrandTest : public testing::Test {
 protected:
  StrandTest() { owner->strand.owned_by(owner); }
  // Waits until all jobs so far have run.
  void drain() {
    std::promise<void> done;
    owner->strand.post([&] { done.set_value(); });
    done.get_future().wait();
  }

  FairPool pool{4, {.running_per_key_max = 4, .waiting_per_key_max = 1000, .waiting_max = 1000}};
  std::shared_ptr<StrandOwner> owner = std::make_shared<StrandOwner>(pool);
};

TEST_F(StrandTest, JobsRunInTheirOrder) {
  std::vector<int> ran;  // without a lock: the strand is one
  for (int i = 0; i < 1000; ++i) owner->strand.post([&, i] { ran.push_back(i); });
  drain();
  ASSERT_EQ(ran.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(ran.begin(), ran.end()));
}

TEST_F(StrandTest, JobsOfManyThreadsNeverRunAtOnce) {
  std::atomic<int> inside{0}, most{0};
  int sum = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        auto job = [&] {
          most = std::max<int>(most, ++inside);
          ++sum;
          --inside;
        };
        i % 2 == 0 ? owner->strand.post(job) : owner->strand.run_or_post(job);
      }
    });
  for (auto& thread : threads) thread.join();
  drain();
  EXPECT_EQ(sum, 800);
  EXPECT_EQ(most, 1);
}

TEST_F(StrandTest, AJobRunsOnTheCallersThreadWhenNothingElseDoes) {
  std::thread::id ran_on;
  owner->strand.run_or_post([&] { ran_on = std::this_thread::get_id(); });
  EXPECT_EQ(ran_on, std::this_thread::get_id());
}

TEST_F(StrandTest, AJobWaitsForTheOneThatRuns) {
  std::promise<void> started, go_on;
  std::vector<std::string> ran;
  owner->strand.post([&] {
    started.set_value();
    go_on.get_future().wait();
    ran.emplace_back("first");
  });
  started.get_future().wait();
  std::thread::id ran_on;
  owner->strand.run_or_post([&] {
    ran.emplace_back("second");
    ran_on = std::this_thread::get_id();
  });
  go_on.set_value();
  drain();
  EXPECT_EQ(ran, (std::vector<std::string>{"first", "second"}));
  EXPECT_NE(ran_on, std::this_thread::get_id());
}

TEST_F(StrandTest, WhatIsPostedDuringAJobOnTheCallersThreadIsNotLost) {
  std::promise<void> done;
  owner->strand.run_or_post([&] { owner->strand.post([&] { done.set_value(); }); });
  EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

TEST_F(StrandTest, AStrandLivesUntilItsJobsAreDone) {
  std::promise<void> go_on, done;
  std::weak_ptr<StrandOwner> weak = owner;
  owner->strand.post([&] { go_on.get_future().wait(); });
  owner->strand.post([&] { done.set_value(); });
  owner.reset();
  EXPECT_FALSE(weak.expired());
  go_on.set_value();
  done.get_future().wait();
  pool.stop();
  EXPECT_TRUE(weak.expired());
}

}  // namespace
}  // namespace sk::interpreter
