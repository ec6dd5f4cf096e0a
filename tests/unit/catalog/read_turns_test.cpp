#include "catalog/read_turns.h"

#include <atomic>
#include <future>
#include <memory>
#include <semaphore>
#include <thread>

#include "base/on_behalf.h"
#include "unit/catalog/support.h"

namespace sk::catalog {
namespace {

Id reader_of(int number) {
  Id id;
  id.bytes[15] = static_cast<std::byte>(number);
  return id;
}

struct Turns {
  explicit Turns(size_t readers_max) : turns(readers_max) {}
  // Returns whether the tenant reads at once. Otherwise it waits.
  bool read(int number) {
    if (turns.take(reader_of(number))) return true;
    waits.push_back(std::make_unique<ReadTurns::Wait>(ReadTurns::Wait{.tenant = reader_of(number)}));
    turns.push(*waits.back());
    return false;
  }
  // Ends a read of the tenant. Returns whose read begins; 0: none does.
  int end(int number) {
    auto* next = turns.give_back(reader_of(number));
    if (next == nullptr) return 0;
    EXPECT_TRUE(next->has_reader);
    return static_cast<int>(next->tenant.bytes[15]);
  }

  ReadTurns turns;
  std::vector<std::unique_ptr<ReadTurns::Wait>> waits;
};

TEST(ReadTurns, OneTenantLeavesReadersToOthers) {
  Turns turns(8);
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(turns.read(1));
  EXPECT_FALSE(turns.read(1));
  EXPECT_TRUE(turns.read(2));
  EXPECT_TRUE(turns.read(3));
  EXPECT_FALSE(turns.read(4)) << "all are in use";
  EXPECT_EQ(turns.turns.in_use(), 8u);
  EXPECT_EQ(turns.turns.waiting(), 2u);
}

TEST(ReadTurns, ATenantHoldsAtLeastHalfOfFewReaders) {
  for (auto [readers, most] : {std::pair(1, 1), {2, 1}, {3, 2}, {4, 2}, {5, 3}, {8, 6}, {256, 254}})
    EXPECT_EQ(ReadTurns(static_cast<size_t>(readers)).tenant_max(), static_cast<size_t>(most)) << readers;
}

TEST(ReadTurns, TheTenantThatHoldsTheFewestIsNextWhateverOthersQueued) {
  Turns turns(3);
  EXPECT_TRUE(turns.read(1));
  EXPECT_TRUE(turns.read(1));
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(turns.read(1));
  EXPECT_TRUE(turns.read(2));
  EXPECT_FALSE(turns.read(2));
  EXPECT_FALSE(turns.read(3));
  EXPECT_EQ(turns.end(1), 3);
  EXPECT_EQ(turns.end(3), 1) << "both hold one, and it came first";
  EXPECT_EQ(turns.end(2), 2) << "it holds none now";
}

TEST(ReadTurns, AFreeReaderIsNotGivenToATenantThatHasItsPart) {
  Turns turns(4);
  EXPECT_TRUE(turns.read(1));
  EXPECT_TRUE(turns.read(1));
  EXPECT_FALSE(turns.read(1));
  EXPECT_TRUE(turns.read(2));
  EXPECT_EQ(turns.end(2), 0);
  EXPECT_TRUE(turns.read(2)) << "nobody else may have it";
  EXPECT_EQ(turns.end(1), 1) << "its own next read";
}

TEST(ReadTurns, AllIsFreeAgainInTheEnd) {
  Turns turns(2);
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(turns.read(1));
    EXPECT_FALSE(turns.read(1));
    EXPECT_TRUE(turns.read(2));
    EXPECT_EQ(turns.end(1), 1);
    EXPECT_EQ(turns.end(1), 0);
    EXPECT_EQ(turns.end(2), 0);
    EXPECT_EQ(turns.turns.in_use(), 0u);
    EXPECT_EQ(turns.turns.waiting(), 0u);
  }
}

// A catalog of which one tenant may hold two of four readers.
class ReadersTest : public testing::Test {
 protected:
  static constexpr int kOfOne = 2;

  // Begins reads of a tenant that last until release().
  void read_slowly(int number, int count) {
    for (int i = 0; i < count; ++i)
      threads_.emplace_back([this, number] {
        OnBehalfOf tenant(reader_of(number));
        db_->read([&](Statements&) {
          begun_.release();
          released_.wait();
        });
        ++ended_;
      });
  }
  // Waits until so many of them have begun.
  void await_begun(int count) {
    for (int i = 0; i < count; ++i) begun_.acquire();
  }
  void release() {
    release_.set_value();
    for (auto& thread : threads_) thread.join();
  }

  TempDir dir_;
  std::unique_ptr<Database> db_ = open_sqlite(dir_.file("catalog.db"), {.readers_max = 4});
  std::counting_semaphore<> begun_{0};
  std::promise<void> release_;
  std::shared_future<void> released_ = release_.get_future().share();
  std::atomic<int> ended_{0};
  std::vector<std::thread> threads_;
};

TEST_F(ReadersTest, SlowReadsOfOneTenantLeaveReadersToOthers) {
  read_slowly(1, 10);
  await_begun(kOfOne);
  {
    OnBehalfOf tenant(reader_of(2));
    EXPECT_TRUE(test::names_in(*db_).empty());
  }
  EXPECT_TRUE(test::names_in(*db_).empty()) << "the server itself";
  EXPECT_EQ(ended_, 0);
  release();
  EXPECT_EQ(ended_, 10);
}

TEST_F(ReadersTest, ATenantThatWaitsGetsTheNextFreeReader) {
  read_slowly(1, 10);
  await_begun(kOfOne);
  read_slowly(2, 2);
  await_begun(2);
  std::thread third([&] {
    OnBehalfOf tenant(reader_of(3));
    test::names_in(*db_);
  });
  release();
  third.join();
  EXPECT_EQ(ended_, 12);
}

TEST_F(ReadersTest, ManyThreadsOfManyTenantsAllReadInTheEnd) {
  constexpr int kThreads = 24, kReads = 50;
  std::atomic<int> reads{0};
  for (int i = 0; i < kThreads; ++i)
    threads_.emplace_back([&, i] {
      OnBehalfOf tenant(reader_of(1 + i % 5));
      for (int n = 0; n < kReads; ++n) db_->read([&](Statements&) { ++reads; });
    });
  release();
  EXPECT_EQ(reads, kThreads * kReads);
}

TEST_F(ReadersTest, AReadThatThrowsGivesItsReaderBack) {
  OnBehalfOf tenant(reader_of(1));
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(test::code_of([&] { db_->read([](Statements&) { throw Error(Code::not_found, "x"); }); }),
              Code::not_found);
  EXPECT_TRUE(test::names_in(*db_).empty());
}

TEST(StrictReaders, AReadInsideOfAReadIsABug) {
  TempDir dir;
  auto db = open_sqlite(dir.file("catalog.db"), {.strict_writes = true});
  EXPECT_EQ(test::code_of([&] { db->read([&](Statements&) { test::names_in(*db); }); }), Code::internal);
  EXPECT_TRUE(test::names_in(*db).empty());
}

}  // namespace
}  // namespace sk::catalog
