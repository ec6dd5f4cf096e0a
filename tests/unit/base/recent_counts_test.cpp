#include "base/recent_counts.h"

#include <gtest/gtest.h>

namespace sk {
namespace {

constexpr TimeUs kStartUs = 1'000 * kSecondUs;

Id counted_key(int number) {
  Id id;
  id.bytes[15] = static_cast<std::byte>(number);
  return id;
}

TEST(RecentCounts, ARateCoversTheTimeSinceTheStart) {
  RecentCounts counts(kStartUs);
  for (int i = 0; i < 8; ++i) counts.add(counted_key(1), kStartUs + kSecondUs);
  counts.add(counted_key(2), kStartUs + 2 * kSecondUs);
  auto rates = counts.rates(kStartUs + 4 * kSecondUs);
  EXPECT_DOUBLE_EQ(rates.by_key.at(counted_key(1)), 2.0);
  EXPECT_DOUBLE_EQ(rates.by_key.at(counted_key(2)), 0.25);
  EXPECT_DOUBLE_EQ(rates.per_s, 2.25);
}

TEST(RecentCounts, ASingleEventIsNoBurst) {
  RecentCounts counts(kStartUs);
  counts.add(counted_key(1), kStartUs);
  EXPECT_DOUBLE_EQ(counts.rates(kStartUs + 1000).per_s, 1.0);
}

TEST(RecentCounts, EventsAreForgottenAfterTwoWindows) {
  RecentCounts counts(kStartUs);
  counts.add(counted_key(1), kStartUs);
  // The second window begins; the first is still part of the rate.
  counts.add(counted_key(2), kStartUs + RecentCounts::kWindowUs);
  EXPECT_EQ(counts.rates(kStartUs + RecentCounts::kWindowUs + kSecondUs).by_key.size(), 2u);
  auto later = counts.rates(kStartUs + 2 * RecentCounts::kWindowUs + kSecondUs);
  EXPECT_FALSE(later.by_key.contains(counted_key(1)));
  EXPECT_TRUE(later.by_key.contains(counted_key(2)));
  EXPECT_TRUE(counts.rates(kStartUs + 100 * RecentCounts::kWindowUs).by_key.empty());
}

TEST(RecentCounts, KeysOfTheTimeBeforeAPauseUseNoMemory) {
  RecentCounts counts(kStartUs);
  for (int i = 0; i < 200; ++i) counts.add(counted_key(i), kStartUs);
  counts.add(counted_key(1), kStartUs + 3 * RecentCounts::kWindowUs);
  EXPECT_EQ(counts.rates(kStartUs + 3 * RecentCounts::kWindowUs).by_key.size(), 1u);
}

}  // namespace
}  // namespace sk
