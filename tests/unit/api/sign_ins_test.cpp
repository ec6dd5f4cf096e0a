#include "api/common/sign_ins.h"

#include <gtest/gtest.h>

namespace sk::api {
namespace {

constexpr int64_t kHourUs = 3600 * kSecondUs;

TEST(SignIns, KnowTheTokensTheyGaveAndNoOthers) {
  ManualClock clock(1'000'000);
  SignIns sign_ins(clock);
  auto token = sign_ins.start("the-key");
  auto other = sign_ins.start("the-key");
  EXPECT_NE(token, other);
  ASSERT_TRUE(sign_ins.find(token));
  EXPECT_EQ(sign_ins.find(token)->secret, "the-key");
  EXPECT_NE(sign_ins.find(token)->form_token, sign_ins.find(other)->form_token);
  EXPECT_EQ(token.find("the-key"), std::string::npos);
  EXPECT_FALSE(sign_ins.find("the-key"));
  EXPECT_FALSE(sign_ins.find(""));
  EXPECT_FALSE(sign_ins.find(token + "x"));
}

TEST(SignIns, EndWhenToldTo) {
  ManualClock clock(1'000'000);
  SignIns sign_ins(clock);
  auto token = sign_ins.start("k");
  sign_ins.end(token);
  sign_ins.end(token);
  EXPECT_FALSE(sign_ins.find(token));
}

TEST(SignIns, EndWhenUnusedForTwelveHours) {
  ManualClock clock(1'000'000);
  SignIns sign_ins(clock);
  auto token = sign_ins.start("k");
  clock.advance_us(11 * kHourUs);
  EXPECT_TRUE(sign_ins.find(token));
  clock.advance_us(11 * kHourUs);
  EXPECT_TRUE(sign_ins.find(token));
  clock.advance_us(13 * kHourUs);
  EXPECT_FALSE(sign_ins.find(token));
}

TEST(SignIns, EndAfterSevenDaysHoweverMuchTheyAreUsed) {
  ManualClock clock(1'000'000);
  SignIns sign_ins(clock);
  auto token = sign_ins.start("k");
  int hours = 0;
  while (sign_ins.find(token)) {
    clock.advance_us(10 * kHourUs);
    hours += 10;
    ASSERT_LT(hours, 1000);
  }
  EXPECT_EQ(hours, 170);
}

TEST(SignIns, EvictTheLeastRecentlyUsedWhenThereAreTooMany) {
  ManualClock clock(1'000'000);
  SignIns sign_ins(clock);
  auto first = sign_ins.start("k");
  clock.advance_us(1);
  auto second = sign_ins.start("k");
  for (int i = 0; i < 9'998; ++i) {
    clock.advance_us(1);
    sign_ins.start("k");
  }
  clock.advance_us(1);
  EXPECT_TRUE(sign_ins.find(first));
  clock.advance_us(1);
  sign_ins.start("k");
  EXPECT_TRUE(sign_ins.find(first));
  EXPECT_FALSE(sign_ins.find(second));
}

}  // namespace
}  // namespace sk::api
