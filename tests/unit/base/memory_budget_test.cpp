#include "base/memory_budget.h"

#include <gtest/gtest.h>

namespace sk {
namespace {

class MemoryBudgetTest : public ::testing::Test {
 protected:
  Metrics metrics;
  Gauge& in_use = metrics.gauge("in_use", "");
  MemoryBudget budget{1 << 20, in_use};
};

TEST_F(MemoryBudgetTest, OneOwnerGetsHalfAndOthersTheRest) {
  MemoryBudget::Share mine(budget), more(budget), theirs(budget);
  EXPECT_TRUE(mine.cover(400 << 10, "me"));
  EXPECT_FALSE(more.cover(200 << 10, "me")) << "over half of it";
  EXPECT_EQ(more.bytes(), 0u) << "a refusal changes nothing";
  EXPECT_TRUE(theirs.cover(512 << 10, "they"));
  EXPECT_FALSE(mine.cover(513 << 10, "me"));
  theirs.release();
  EXPECT_TRUE(mine.cover(512 << 10, "me"));
}

TEST_F(MemoryBudgetTest, EverythingIsGivenBack) {
  for (int round = 0; round < 100; ++round) {
    MemoryBudget::Share one(budget), two(budget);
    EXPECT_TRUE(one.cover(1, "a"));
    EXPECT_TRUE(one.cover(100'000, "b")) << "what was begun for one owner goes on for that owner";
    EXPECT_TRUE(two.cover(500'000, "b"));
    EXPECT_FALSE(one.cover(1 << 20, "a"));
  }
  EXPECT_EQ(in_use.value(), 0);
}

TEST_F(MemoryBudgetTest, AllOwnersTogetherMayUseTheWhole) {
  MemoryBudget::Share one(budget, "a"), two(budget, "b"), three(budget, "c");
  EXPECT_TRUE(one.resize(500'000) && two.resize(500'000));
  EXPECT_FALSE(three.resize(100'000)) << "the others use the rest";
  EXPECT_TRUE(three.resize(40'000));
  EXPECT_TRUE(one.resize(10)) << "less is always allowed";
  EXPECT_TRUE(three.resize(100'000));
  EXPECT_EQ(in_use.value(), 600'010);
}

TEST_F(MemoryBudgetTest, SaysWhoHasToGiveBack) {
  MemoryBudget::Share one(budget, "a"), two(budget, "b"), three(budget, "c");
  EXPECT_EQ(budget.over("a"), std::nullopt);
  one.set(513 << 10);
  EXPECT_EQ(budget.over("a"), "a");
  EXPECT_EQ(budget.over("b"), std::nullopt);
  one.set(400 << 10);
  two.set(500 << 10);
  three.set(200 << 10);
  EXPECT_EQ(budget.over("c"), "b") << "together they have too much";
  two.set(100 << 10);
  EXPECT_EQ(budget.over("c"), std::nullopt);
}

TEST_F(MemoryBudgetTest, SaysWhenLittleIsLeft) {
  MemoryBudget::Share one(budget, "a"), two(budget, "b");
  one.set(384 << 10);
  EXPECT_FALSE(budget.is_tight_for("a"));
  one.set((384 << 10) + 1);
  EXPECT_TRUE(budget.is_tight_for("a"));
  EXPECT_FALSE(budget.is_tight_for("b") || budget.is_tight());
  two.set(384 << 10);
  EXPECT_TRUE(budget.is_tight());
}

TEST_F(MemoryBudgetTest, WhatIsInUseAlreadyCountsAndMovesWithItsShare) {
  {
    MemoryBudget::Share share(budget, "a");
    share.set(2 << 20);
    EXPECT_EQ(in_use.value(), 2 << 20);
    MemoryBudget::Share moved(std::move(share));
    EXPECT_FALSE(moved.resize((2 << 20) + 1));
    EXPECT_TRUE(moved.resize(1 << 20));
    EXPECT_EQ(in_use.value(), 1 << 20);
  }
  EXPECT_EQ(in_use.value(), 0);
  EXPECT_FALSE(budget.is_tight_for("a"));
  MemoryBudget::Share unlimited;
  EXPECT_TRUE(unlimited.resize(1ull << 40));
}

}  // namespace
}  // namespace sk
