#include "followers/changed_journals.h"

#include <gtest/gtest.h>

namespace sk::followers {
namespace {

Id workspace_number(int number) {
  return *Id::from_hex("0000000000000000000000000000000" + std::to_string(number));
}

TEST(ChangedJournals, TellTheFirstChangeAndRememberAll) {
  workspace::Feed feed;
  int told = 0;
  ChangedJournals changed(feed, [&] { ++told; });
  EXPECT_TRUE(changed.take().empty());
  for (int i : {1, 2, 1}) feed.notify(workspace_number(i));
  EXPECT_EQ(told, 1);
  auto taken = changed.take();
  EXPECT_EQ(taken.ids().size(), 2u);
  EXPECT_TRUE(taken.contains(workspace_number(2)));
  EXPECT_FALSE(taken.contains(workspace_number(3)));
  feed.notify(workspace_number(3));
  EXPECT_EQ(told, 2);
}

TEST(ChangedJournals, AboveTheirLimitAnyMayHaveChanged) {
  workspace::Feed feed;
  ChangedJournals changed(feed, [] {}, 2);
  for (int i : {1, 2, 3}) feed.notify(workspace_number(i));
  auto taken = changed.take();
  EXPECT_TRUE(taken.any() && taken.ids().empty());
  EXPECT_TRUE(taken.contains(workspace_number(9)));
  feed.notify(workspace_number(1));
  EXPECT_FALSE(changed.take().any());
}

TEST(JournalSet, AddsAnotherUpToItsLimit) {
  JournalSet some(2), others(2);
  some.add(workspace_number(1));
  others.add(workspace_number(2));
  some.add(others);
  EXPECT_EQ(some.ids().size(), 2u);
  some.add(workspace_number(3));
  EXPECT_TRUE(some.any());
  others.add(some);
  EXPECT_TRUE(others.any());
}

}  // namespace
}  // namespace sk::followers
