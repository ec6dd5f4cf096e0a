#include "base/fair_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "base/on_behalf.h"

namespace sk {
namespace {

Id key_of(char name) {
  Id id;
  id.bytes[0] = static_cast<std::byte>(name);
  return id;
}

class FairQueueTest : public testing::Test {
 protected:
  void push(FairQueue& queue, std::string_view keys) {
    for (char name : keys) queue.push(key_of(name), [this, name] { ran += name; });
  }
  // Takes and runs up to `count` jobs that do not end.
  static void start(FairQueue& queue, size_t count) {
    for (; count > 0; --count)
      if (auto taken = queue.take()) taken->job();
  }
  // Runs jobs one after the other until none may run.
  static void run_all(FairQueue& queue) {
    while (auto taken = queue.take()) {
      taken->job();
      queue.done(taken->key);
    }
  }

  std::string ran;
};

constexpr FairQueue::Limits kRoomy{
    .running_per_key_max = 100, .waiting_per_key_max = 100, .waiting_max = 100};

TEST_F(FairQueueTest, KeysTakeTurnsWhateverTheyQueued) {
  FairQueue queue(kRoomy);
  push(queue, "aaaaabbc");
  run_all(queue);
  EXPECT_EQ(ran, "abcabaaa");
}

TEST_F(FairQueueTest, ALateKeyWaitsForOneJobOfEachOther) {
  FairQueue queue(kRoomy);
  push(queue, "aaaabbbb");
  start(queue, 3);
  push(queue, "c");
  start(queue, 100);
  EXPECT_EQ(ran, "ababacbab");
}

TEST_F(FairQueueTest, AKeyRunsNoMoreThanItsLimitAtOnce) {
  FairQueue queue({.running_per_key_max = 2, .waiting_per_key_max = 100, .waiting_max = 100});
  push(queue, "aaaaab");
  start(queue, 100);
  EXPECT_EQ(ran, "aba");
  EXPECT_EQ(queue.running(), 3u);
  EXPECT_EQ(queue.waiting(), 3u);
  queue.done(key_of('b'));
  start(queue, 100);
  EXPECT_EQ(ran, "aba");
  queue.done(key_of('a'));
  start(queue, 100);
  EXPECT_EQ(ran, "abaa");
}

TEST_F(FairQueueTest, AKeyComputesNoMoreThanItsLimitAndPausedJobsDoNotCount) {
  FairQueue queue(
      {.running_per_key_max = 4, .waiting_per_key_max = 100, .waiting_max = 100, .computing_per_key_max = 2});
  for (int i = 0; i < 10; ++i) queue.push(key_of('a'), [] {});
  queue.push(key_of('b'), [] {});
  EXPECT_TRUE(queue.take());
  EXPECT_EQ(queue.take()->key, key_of('b'));
  EXPECT_TRUE(queue.take());
  EXPECT_FALSE(queue.take()) << "two compute";
  EXPECT_TRUE(queue.pause(key_of('a')));
  EXPECT_FALSE(queue.pause(key_of('a'))) << "it is in its turn already";
  EXPECT_TRUE(queue.take());
  EXPECT_TRUE(queue.take());
  EXPECT_FALSE(queue.take()) << "four run";
  queue.done(key_of('a'));  // one that computed
  queue.resume(key_of('a'));
  EXPECT_FALSE(queue.take()) << "two compute again, and one is paused";
  queue.resume(key_of('a'));
  queue.done(key_of('a'));
  EXPECT_FALSE(queue.take()) << "as many as may";
  queue.done(key_of('a'));
  EXPECT_EQ(queue.take()->key, key_of('a'));
  EXPECT_EQ(queue.running(), 3u);
}

TEST_F(FairQueueTest, LimitsOfWaitingJobs) {
  FairQueue queue({.running_per_key_max = 1, .waiting_per_key_max = 2, .waiting_max = 3});
  EXPECT_TRUE(queue.has_room(key_of('a')));
  push(queue, "aa");
  EXPECT_FALSE(queue.has_room(key_of('a')));
  EXPECT_TRUE(queue.has_room(key_of('b')));
  push(queue, "b");
  EXPECT_FALSE(queue.has_room(key_of('c')));
  start(queue, 1);
  EXPECT_TRUE(queue.has_room(key_of('a')));
}

TEST_F(FairQueueTest, AKeyWithoutJobsIsForgotten) {
  FairQueue queue(kRoomy);
  push(queue, "abcabc");
  EXPECT_EQ(queue.keys(), 3u);
  run_all(queue);
  EXPECT_EQ(queue.keys(), 0u);
  push(queue, "a");
  run_all(queue);
  EXPECT_EQ(ran, "abcabca");
}

TEST(FairPool, OneKeyLeavesThreadsToOthers) {
  FairPool pool(3, {.running_per_key_max = 2, .waiting_per_key_max = 100, .waiting_max = 1000});
  std::promise<void> release;
  auto released = release.get_future().share();
  std::atomic<int> ended{0};
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(pool.submit(key_of('a'), [&, released] {
      released.wait();
      ++ended;
    }));
  // Ends although the jobs of the other key wait for it.
  std::promise<void> other;
  pool.submit_always(key_of('b'), [&] { other.set_value(); });
  other.get_future().wait();
  EXPECT_EQ(ended, 0);
  release.set_value();
  pool.stop();
  EXPECT_EQ(ended, 10);
}

TEST(FairPool, AJobRunsOnBehalfOfItsKey) {
  FairPool pool(1, {.running_per_key_max = 1, .waiting_per_key_max = 9, .waiting_max = 9});
  std::string seen;
  auto note = [&] { seen += static_cast<char>(OnBehalfOf::tenant().bytes[0]); };
  pool.submit_always(key_of('a'), [&] {
    note();
    {
      OnBehalfOf inner(key_of('c'));
      note();
    }
    OnBehalfOf::replace(key_of('d'));
    note();
  });
  pool.submit_always(key_of('b'), note);
  pool.stop();
  EXPECT_EQ(seen, "acdb");
  OnBehalfOf::replace(key_of('e'));
  EXPECT_EQ(OnBehalfOf::tenant(), Id{}) << "this thread works for nobody";
}

TEST(FairPool, JobsThatWaitLeaveTheProcessorToOthersOfTheirKey) {
  FairPool pool(
      8,
      {.running_per_key_max = 8, .waiting_per_key_max = 100, .waiting_max = 100, .computing_per_key_max = 1});
  std::promise<void> last;
  auto last_ran = last.get_future().share();
  std::atomic<int> computing{0}, most{0}, left{5};
  for (int i = 0; i < 5; ++i)
    pool.submit_always(key_of('a'), [&] {
      most = std::max(most.load(), ++computing);
      --computing;
      FairPool::Pause pause;
      FairPool::Pause inner;
      if (--left == 0) last.set_value();
      last_ran.wait();  // ends only if all of them run at the same time
    });
  last_ran.wait();
  pool.stop();
  EXPECT_EQ(most, 1);
}

TEST(FairPool, JobsThatComputeWaitForEachOther) {
  FairPool pool(8, {.running_per_key_max = 8,
                    .waiting_per_key_max = 10'000,
                    .waiting_max = 10'000,
                    .computing_per_key_max = 2});
  std::atomic<int> computing{0}, most{0}, ended{0};
  for (int i = 0; i < 2000; ++i)
    pool.submit_always(key_of('a'), [&, i] {
      int now = ++computing;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      --computing;
      if (i % 3 == 0) FairPool::Pause pause;
      ++ended;
    });
  pool.stop();
  EXPECT_EQ(ended, 2000) << "no job was forgotten";
  EXPECT_LE(most, 2);
}

TEST(FairPool, RefusesWhatHasNoRoom) {
  FairPool pool(2, {.running_per_key_max = 1, .waiting_per_key_max = 1, .waiting_max = 10});
  std::promise<void> started, release;
  auto released = release.get_future().share();
  ASSERT_TRUE(pool.submit(key_of('a'), [&, released] {
    started.set_value();
    released.wait();
  }));
  started.get_future().wait();
  EXPECT_TRUE(pool.submit(key_of('a'), [] {}));
  EXPECT_FALSE(pool.submit(key_of('a'), [] {}));
  EXPECT_TRUE(pool.submit(key_of('b'), [] {}));
  release.set_value();
}

TEST(FairPool, RunsEverythingThatManyThreadsSubmit) {
  FairPool pool(4, {.running_per_key_max = 2, .waiting_per_key_max = 10'000, .waiting_max = 100'000});
  std::atomic<int> ran{0};
  std::array<std::atomic<int>, 4> inside{};
  std::atomic<bool> exceeded{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        size_t key = static_cast<size_t>(i) % inside.size();
        pool.submit_always(key_of(static_cast<char>('a' + key)), [&, key] {
          if (++inside[key] > 2) exceeded = true;
          ++ran;
          --inside[key];
        });
      }
    });
  for (auto& thread : threads) thread.join();
  pool.stop();
  EXPECT_EQ(ran, 2000);
  EXPECT_FALSE(exceeded);
}

TEST_F(FairQueueTest, TheLoadsAreThoseOfEachKey) {
  FairQueue queue({.running_per_key_max = 1, .waiting_per_key_max = 10, .waiting_max = 10});
  EXPECT_TRUE(queue.loads().empty());
  push(queue, "aab");
  start(queue, 2);
  for (const auto& load : queue.loads()) {
    EXPECT_EQ(load.running, 1u);
    EXPECT_EQ(load.waiting, load.key == key_of('a') ? 1u : 0u);
  }
  EXPECT_EQ(queue.loads().size(), 2u);
}

}  // namespace
}  // namespace sk
