#include "cli/frame/when.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "support/expect_error.h"

namespace sk::cli {
namespace {

// Berlin has summer time, which a fixed offset would not show.
class WhenTest : public testing::Test {
 protected:
  void SetUp() override { use("Europe/Berlin"); }
  void TearDown() override { use("UTC"); }
  static void use(const char* zone) {
    setenv("TZ", zone, 1);
    tzset();
  }
  static constexpr TimeUs kNow = 1'772'366'400 * kSecondUs;  // 2026-03-01T12:00:00Z
};

TEST_F(WhenTest, ATimeWithAZoneIsTakenAsWritten) {
  EXPECT_EQ(to_iso8601(parse_when("2026-03-01T12:30:00Z", kNow)), "2026-03-01T12:30:00.000000Z");
  EXPECT_EQ(to_iso8601(parse_when("2026-03-01T12:30:00.25+01:00", kNow)), "2026-03-01T11:30:00.250000Z");
}

TEST_F(WhenTest, ATimeWithoutAZoneIsLocal) {
  EXPECT_EQ(to_iso8601(parse_when("2026-03-01 12:30", kNow)), "2026-03-01T11:30:00.000000Z");
  EXPECT_EQ(to_iso8601(parse_when("2026-07-01 12:30", kNow)), "2026-07-01T10:30:00.000000Z") << "summer time";
  EXPECT_EQ(to_iso8601(parse_when("2026-03-01", kNow)), "2026-02-28T23:00:00.000000Z");
}

TEST_F(WhenTest, ADurationIsSoLongAgo) {
  EXPECT_EQ(parse_when("15m", kNow), kNow - 900 * kSecondUs);
  EXPECT_EQ(parse_when("2h ago", kNow), kNow - 7200 * kSecondUs);
  EXPECT_EQ(parse_when("3d", kNow), kNow - 3 * 86'400 * kSecondUs);
}

TEST_F(WhenTest, WhatIsNoTimeIsRefused) {
  for (auto text : {"", "yesterday", "15", "12:30", "2026-13-01", "h", "-5m"})
    test::expect_error(Code::bad_request, [&] { parse_when(text, kNow); });
}

TEST_F(WhenTest, TimesAreShownLocally) {
  EXPECT_EQ(local_minute("2026-03-01T11:30:59.5Z"), "2026-03-01 12:30");
  EXPECT_EQ(local_second("2026-07-01T10:30:59Z"), "2026-07-01 12:30:59");
  EXPECT_EQ(local_minute("whenever"), "whenever");
}

TEST(When, DurationsHaveUnits) {
  EXPECT_EQ(parse_duration_s("90"), 90);
  EXPECT_EQ(parse_duration_s("90s"), 90);
  EXPECT_EQ(parse_duration_s("5m"), 300);
  EXPECT_EQ(parse_duration_s("1h"), 3600);
  EXPECT_EQ(parse_duration_s("2 d"), 172'800);
  EXPECT_EQ(parse_duration_s("1w"), 604'800);
  for (auto text : {"", "m", "5y", "1.5h", "-1s", "99999999999999999999h"})
    EXPECT_EQ(parse_duration_s(text), std::nullopt) << text;
}

TEST(When, DurationsReadWell) {
  EXPECT_EQ(human_duration(0), "0 s");
  EXPECT_EQ(human_duration(59), "59 s");
  EXPECT_EQ(human_duration(60), "1 min");
  EXPECT_EQ(human_duration(250), "4 min 10 s");
  EXPECT_EQ(human_duration(7500), "2 h 5 min");
  EXPECT_EQ(human_duration(273'600), "3 d 4 h");
}

}  // namespace
}  // namespace sk::cli
