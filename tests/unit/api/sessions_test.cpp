#include "api/common/sessions.h"

#include <gtest/gtest.h>

namespace sk::api {
namespace {

constexpr int64_t kHourUs = 3600 * kSecondUs;

TEST(Sessions, KnowTheTokensTheyGaveAndNoOthers) {
  ManualClock clock(1'000'000);
  Sessions sessions(clock);
  auto token = sessions.start("the-key");
  auto other = sessions.start("the-key");
  EXPECT_NE(token, other);
  ASSERT_TRUE(sessions.find(token));
  EXPECT_EQ(sessions.find(token)->secret, "the-key");
  EXPECT_NE(sessions.find(token)->form_token, sessions.find(other)->form_token);
  EXPECT_EQ(token.find("the-key"), std::string::npos);
  EXPECT_FALSE(sessions.find("the-key"));
  EXPECT_FALSE(sessions.find(""));
  EXPECT_FALSE(sessions.find(token + "x"));
}

TEST(Sessions, EndWhenToldTo) {
  ManualClock clock(1'000'000);
  Sessions sessions(clock);
  auto token = sessions.start("k");
  sessions.end(token);
  sessions.end(token);
  EXPECT_FALSE(sessions.find(token));
}

TEST(Sessions, EndWhenUnusedForTwelveHours) {
  ManualClock clock(1'000'000);
  Sessions sessions(clock);
  auto token = sessions.start("k");
  clock.advance_us(11 * kHourUs);
  EXPECT_TRUE(sessions.find(token));
  clock.advance_us(11 * kHourUs);
  EXPECT_TRUE(sessions.find(token));
  clock.advance_us(13 * kHourUs);
  EXPECT_FALSE(sessions.find(token));
}

TEST(Sessions, EndAfterSevenDaysHoweverMuchTheyAreUsed) {
  ManualClock clock(1'000'000);
  Sessions sessions(clock);
  auto token = sessions.start("k");
  int hours = 0;
  while (sessions.find(token)) {
    clock.advance_us(10 * kHourUs);
    hours += 10;
    ASSERT_LT(hours, 1000);
  }
  EXPECT_EQ(hours, 170);
}

TEST(Sessions, EvictTheLeastRecentlyUsedWhenThereAreTooMany) {
  ManualClock clock(1'000'000);
  Sessions sessions(clock);
  auto first = sessions.start("k");
  clock.advance_us(1);
  auto second = sessions.start("k");
  for (int i = 0; i < 9'998; ++i) {
    clock.advance_us(1);
    sessions.start("k");
  }
  clock.advance_us(1);
  EXPECT_TRUE(sessions.find(first));
  clock.advance_us(1);
  sessions.start("k");
  EXPECT_TRUE(sessions.find(first));
  EXPECT_FALSE(sessions.find(second));
}

}  // namespace
}  // namespace sk::api
