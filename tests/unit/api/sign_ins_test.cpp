#include "api/common/sign_ins.h"

#include <gtest/gtest.h>

namespace sk::api {
namespace {

constexpr int64_t kHourUs = 3600 * kSecondUs;
const Id kMe = *Id::from_hex("0123456789abcdef0123456789abcdef"),
         kOther = *Id::from_hex("00112233445566770011223344556677"),
         kThird = *Id::from_hex("00112233445566770011223344556678");

TEST(SignIns, KnowTheTokensTheyGaveAndNoOthers) {
  ManualClock clock(1'000'000);
  SignIns sign_ins(clock);
  auto token = sign_ins.start(kMe, "the-key");
  auto other = sign_ins.start(kMe, "the-key");
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
  auto token = sign_ins.start(kMe, "k");
  sign_ins.end(token);
  sign_ins.end(token);
  EXPECT_FALSE(sign_ins.find(token));
}

TEST(SignIns, EndWhenUnusedForTwelveHours) {
  ManualClock clock(1'000'000);
  SignIns sign_ins(clock);
  auto token = sign_ins.start(kMe, "k");
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
  auto token = sign_ins.start(kMe, "k");
  int hours = 0;
  while (sign_ins.find(token)) {
    clock.advance_us(10 * kHourUs);
    hours += 10;
    ASSERT_LT(hours, 1000);
  }
  EXPECT_EQ(hours, 170);
}

TEST(SignIns, EvictThePrincipalsOwnLeastRecentlyUsed) {
  ManualClock clock(1'000'000);
  SignIns sign_ins(clock, {.entries_max = 100, .entries_per_owner_max = 3});
  auto others = sign_ins.start(kOther, "other");
  auto first = sign_ins.start(kMe, "k"), second = sign_ins.start(kMe, "k"), third = sign_ins.start(kMe, "k");
  EXPECT_TRUE(sign_ins.find(first));
  sign_ins.start(kMe, "k");
  EXPECT_TRUE(sign_ins.find(first));
  EXPECT_FALSE(sign_ins.find(second));
  EXPECT_TRUE(sign_ins.find(third));
  EXPECT_TRUE(sign_ins.find(others));
}

TEST(SignIns, OfOnePrincipalDoNotSignOutAnother) {
  ManualClock clock(1'000'000);
  SignIns sign_ins(clock, {.entries_max = 10, .entries_per_owner_max = 10});
  auto others = sign_ins.start(kOther, "other");
  for (int i = 0; i < 1'000; ++i) sign_ins.start(kMe, "k");
  EXPECT_TRUE(sign_ins.find(others));
  auto newcomers = sign_ins.start(kThird, "third");
  EXPECT_TRUE(sign_ins.find(others));
  EXPECT_TRUE(sign_ins.find(newcomers));
}

TEST(SignIns, ThatEndedLeaveTheirPlace) {
  ManualClock clock(1'000'000);
  SignIns sign_ins(clock, {.entries_max = 2, .entries_per_owner_max = 2});
  auto first = sign_ins.start(kMe, "k"), second = sign_ins.start(kMe, "k");
  sign_ins.end(second);
  auto third = sign_ins.start(kMe, "k");
  EXPECT_TRUE(sign_ins.find(first));
  EXPECT_TRUE(sign_ins.find(third));
}

}  // namespace
}  // namespace sk::api
