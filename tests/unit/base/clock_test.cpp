#include "base/clock.h"

#include <gtest/gtest.h>
#include "support/property.h"

namespace sk {
namespace {

RC_GTEST_PROP(ClockProperty, EveryTimeReadsBackToTheMicrosecond, ()) {
  // The years 0001 to 9999, which four digits can write.
  auto time = *rc::gen::inRange<int64_t>(-62'135'596'800'000'000, 253'402'300'800'000'000);
  RC_ASSERT(parse_iso8601(to_iso8601(time)) == time);
}

TEST(Clock, TimesAreWrittenInUtcWithMicroseconds) {
  EXPECT_EQ(to_iso8601(0), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(to_iso8601(951'782'400'000'001), "2000-02-29T00:00:00.000001Z");
  EXPECT_EQ(to_iso8601(-1), "1969-12-31T23:59:59.999999Z");
}

TEST(Clock, FractionSecondsOffsetAndTimeMayBeLeftOut) {
  TimeUs noon = 1'772'366'400'000'000;
  EXPECT_EQ(parse_iso8601("2026-03-01T12:00:00.000000Z"), noon);
  EXPECT_EQ(parse_iso8601("2026-03-01T12:00:00Z"), noon);
  EXPECT_EQ(parse_iso8601("2026-03-01 12:00"), noon);
  EXPECT_EQ(parse_iso8601("2026-03-01"), noon - 12 * 3600 * kSecondUs);
  EXPECT_EQ(parse_iso8601("2026-03-01T12:00:00.5Z"), noon + 500'000);
  EXPECT_EQ(parse_iso8601("2026-03-01T12:00:00.1234567899Z"), noon + 123'456)
      << "digits beyond microseconds are dropped";
  EXPECT_EQ(parse_iso8601("2026-03-01T14:00:00+02:00"), noon);
  EXPECT_EQ(parse_iso8601("2026-03-01T06:30:00-0530"), noon);
}

TEST(Clock, WhatIsNotATimeIsRefused) {
  for (const char* bad :
       {"", "yesterday", "2026", "2026-13-01", "2026-02-29", "2026-03-01T", "2026-03-01T24:00:00Z",
        "2026-03-01T12:60", "2026-03-01T12:00:00.Z", "2026-03-01T12:00:00Zjunk", "2026-03-01T12:00:00+25:00",
        "2026-03-01T12:00:00+02:00x", "26-03-01", "2026-3-1", "-2026-03-01"})
    EXPECT_FALSE(parse_iso8601(bad)) << bad;
}

TEST(Clock, AManualClockMovesOnlyWhenSet) {
  ManualClock clock(100);
  EXPECT_EQ(clock.now_us(), 100);
  clock.advance_us(5);
  EXPECT_EQ(clock.now_us(), 105);
}

TEST(Clock, TheSystemClockIsInThisMillennium) {
  EXPECT_GT(SystemClock().now_us(), parse_iso8601("2024-01-01"));
}

}  // namespace
}  // namespace sk
