#include "base/fair_eviction.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace sk {
namespace {

using Table = FairEviction<std::string>;

Id owner(int number) {
  Id id;
  id.bytes[15] = static_cast<std::byte>(number);
  return id;
}

TEST(FairEviction, AnOwnerOverItsLimitLosesItsOwnOldestEntry) {
  Table table({.entries_max = 10, .entries_per_owner_max = 2});
  EXPECT_EQ(table.add(owner(2), "other"), std::nullopt);
  EXPECT_EQ(table.add(owner(1), "a"), std::nullopt);
  EXPECT_EQ(table.add(owner(1), "b"), std::nullopt);
  table.touch("a");
  EXPECT_EQ(table.add(owner(1), "c"), "b");
  EXPECT_EQ(table.add(owner(1), "d"), "a");
  EXPECT_EQ(table.size(), 3u);
}

TEST(FairEviction, AFullTableTakesFromTheOwnerWithTheMost) {
  Table table({.entries_max = 4, .entries_per_owner_max = 4});
  EXPECT_EQ(table.add(owner(2), "old"), std::nullopt);
  for (auto name : {"a", "b", "c"}) EXPECT_EQ(table.add(owner(1), name), std::nullopt);
  EXPECT_EQ(table.add(owner(3), "new"), "a") << "although another entry is older";
  EXPECT_EQ(table.add(owner(3), "newer"), "b");
  EXPECT_EQ(table.add(owner(4), "x"), "new");
  EXPECT_EQ(table.add(owner(5), "y"), "old") << "the least recently used one of owners with equally many";
}

TEST(FairEviction, AmongEqualsTheOneThatAddsLosesItsOwn) {
  Table table({.entries_max = 4, .entries_per_owner_max = 4});
  for (auto name : {"a", "b"}) EXPECT_EQ(table.add(owner(1), name), std::nullopt);
  for (auto name : {"c", "d"}) EXPECT_EQ(table.add(owner(2), name), std::nullopt);
  EXPECT_EQ(table.add(owner(2), "e"), "c");
  EXPECT_EQ(table.add(owner(1), "f"), "a");
}

TEST(FairEviction, AnEntryThatIsAddedAgainIsOneEntry) {
  Table table({.entries_max = 2, .entries_per_owner_max = 2});
  EXPECT_EQ(table.add(owner(1), "a"), std::nullopt);
  EXPECT_EQ(table.add(owner(1), "b"), std::nullopt);
  EXPECT_EQ(table.add(owner(1), "a"), std::nullopt);
  EXPECT_EQ(table.add(owner(1), "c"), "b");
}

TEST(FairEviction, OwnersWithoutEntriesAreForgotten) {
  Table table({.entries_max = 10, .entries_per_owner_max = 10});
  EXPECT_EQ(table.add(owner(1), "a"), std::nullopt);
  table.remove("a");
  table.remove("a");
  table.touch("a");
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.owners(), 0u);
}

// Whatever the others do, an entry leaves only if its owner has more than its share of the table.
TEST(FairEviction, NobodyLosesAnythingWithinItsShare) {
  constexpr size_t kMax = 30;
  constexpr unsigned kSeed = 20'261'117;
  std::mt19937 random(kSeed);
  Table table({.entries_max = kMax, .entries_per_owner_max = 20});
  std::map<std::string, int> owner_of;
  std::map<int, size_t> count_of;
  for (int step = 0; step < 20'000; ++step) {
    // The first owner adds half of all entries.
    int adder = random() % 2 == 0 ? 1 : static_cast<int>(1 + random() % 7);
    auto name = std::to_string(step);
    auto leaving = table.add(owner(adder), name);
    owner_of[name] = adder;
    ++count_of[adder];
    if (leaving) {
      int loser = owner_of.at(*leaving);
      if (loser != adder) {
        ASSERT_GT(count_of[loser] * count_of.size(), kMax) << "seed " << kSeed << ", step " << step;
      }
      if (--count_of[loser] == 0) count_of.erase(loser);
      owner_of.erase(*leaving);
    }
    ASSERT_LE(table.size(), kMax);
    ASSERT_EQ(table.size(), owner_of.size());
    if (random() % 4 == 0 && !owner_of.empty()) {
      auto gone = std::next(owner_of.begin(), static_cast<long>(random() % owner_of.size()));
      table.remove(gone->first);
      if (--count_of[gone->second] == 0) count_of.erase(gone->second);
      owner_of.erase(gone);
    }
  }
}

}  // namespace
}  // namespace sk
