#include "catalog/write_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace sk::catalog {
namespace {

using std::chrono::milliseconds;

Id tenant(int number) {
  Id id;
  id.bytes[15] = static_cast<std::byte>(number);
  return id;
}

struct Queue {
  WriteQueue::Write& push(int number) {
    writes.push_back(std::make_unique<WriteQueue::Write>(WriteQueue::Write{.tenant = tenant(number)}));
    queue.push(*writes.back());
    return *writes.back();
  }
  // Runs the first `count` writes of the next group. Returns whose they were.
  std::string run(size_t count, milliseconds each, size_t max = 128) {
    auto group = queue.next(max);
    std::string order;
    for (size_t i = 0; i < std::min(count, group.size()); ++i) {
      group[i]->done = true;
      group[i]->took = each;
      order += static_cast<char>('0' + static_cast<int>(group[i]->tenant.bytes[15]));
    }
    queue.remove_done();
    return order;
  }

  WriteQueue queue;
  std::vector<std::unique_ptr<WriteQueue::Write>> writes;
};

TEST(WriteQueue, WritesOfOneTenantRunInTheirOrder) {
  Queue queue;
  for (int i = 0; i < 5; ++i) queue.push(1);
  auto group = queue.queue.next(3);
  ASSERT_EQ(group.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(group[i], queue.writes[i].get());
  EXPECT_EQ(queue.run(9, milliseconds(1)), "11111");
  EXPECT_EQ(queue.queue.size(), 0u);
  EXPECT_EQ(queue.queue.tenants(), 0u);
  EXPECT_EQ(queue.queue.oldest(), nullptr);
}

TEST(WriteQueue, TenantsTakeTurnsWithinAGroup) {
  Queue queue;
  for (int i = 0; i < 4; ++i) queue.push(1);
  queue.push(2);
  queue.push(3);
  queue.push(2);
  EXPECT_EQ(queue.run(9, milliseconds(1)), "1231211");
}

TEST(WriteQueue, OneWriteWaitsForNoMoreThanOneSlowWrite) {
  Queue queue;
  for (int i = 0; i < 100; ++i) queue.push(1);
  EXPECT_EQ(queue.run(1, milliseconds(300)), "1");
  queue.push(2);
  EXPECT_EQ(queue.run(1, milliseconds(1)), "2");
  EXPECT_EQ(queue.run(1, milliseconds(300)), "1");
}

TEST(WriteQueue, TenantsShareTimeNotNumbers) {
  Queue queue;
  for (int i = 0; i < 50; ++i) queue.push(1);
  for (int i = 0; i < 500; ++i) queue.push(2);
  int slow = 0, quick = 0;
  while (queue.queue.size() > 200) {
    bool is_slow = queue.queue.next(1)[0]->tenant == tenant(1);
    ++(is_slow ? slow : quick);
    queue.run(1, milliseconds(is_slow ? 20 : 1));
  }
  EXPECT_GT(quick, slow * 15);
  EXPECT_GT(slow, 5);
}

TEST(WriteQueue, ATenantThatWasAwayHasSavedUpNothing) {
  Queue queue;
  for (int i = 0; i < 100; ++i) queue.push(1);
  for (int i = 0; i < 50; ++i) queue.run(1, milliseconds(10));
  for (int i = 0; i < 100; ++i) queue.push(2);
  std::string order;
  for (int i = 0; i < 20; ++i) order += queue.run(1, milliseconds(10));
  EXPECT_EQ(std::ranges::count(order, '1'), 10) << order;
}

TEST(WriteQueue, TheOldestIsTheOldestWhoeverIsNext) {
  Queue queue;
  auto& first = queue.push(1);
  for (int i = 0; i < 3; ++i) queue.push(1);
  queue.push(2);
  EXPECT_EQ(queue.queue.oldest(), &first);
  queue.run(1, milliseconds(5));
  EXPECT_EQ(queue.queue.oldest(), queue.writes[1].get());
}

}  // namespace
}  // namespace sk::catalog
