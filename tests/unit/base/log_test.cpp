#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/json.h"

namespace sk {
namespace {

// Standard error while `action` runs, with the logger as given; then as it was.
std::string logged(log::Level least, log::Format format, const std::function<void()>& action) {
  log::configure(least, format);
  testing::internal::CaptureStderr();
  action();
  auto out = testing::internal::GetCapturedStderr();
  log::configure(log::Level::info, log::Format::text);
  return out;
}

TEST(Log, TextLinesHaveTimeLevelMessageAndFields) {
  auto line = logged(log::Level::info, log::Format::text,
                     [] { log::warn("slow disk", {{"ms", 12}, {"path", "a b"}, {"rate", 0.5}}); });
  EXPECT_TRUE(parse_iso8601(line.substr(0, 27))) << line;
  EXPECT_EQ(line.substr(27), " warn slow disk ms=12 path=\"a b\" rate=0.500000\n");
}

TEST(Log, JsonLinesAreOneObjectEach) {
  auto line = logged(log::Level::info, log::Format::json,
                     [] { log::error("no room", {{"bytes", 7}, {"what", "x\"y"}}); });
  auto object = parse_json(line);
  EXPECT_EQ(object["level"], "error");
  EXPECT_EQ(object["message"], "no room");
  EXPECT_EQ(object["bytes"], 7);
  EXPECT_EQ(object["what"], "x\"y");
}

TEST(Log, ALineBreakInAFieldCannotForgeALine) {
  for (auto format : {log::Format::text, log::Format::json}) {
    auto out = logged(log::Level::info, format, [] { log::info("got", {{"name", "a\n2026 error forged"}}); });
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1) << out;
  }
}

TEST(Log, LinesBelowTheLevelAreNotWritten) {
  auto out = logged(log::Level::warn, log::Format::text, [] {
    log::debug("one");
    log::info("two");
    log::warn("three");
    EXPECT_FALSE(log::enabled(log::Level::info));
  });
  EXPECT_THAT(out, testing::AllOf(testing::Not(testing::HasSubstr("two")), testing::HasSubstr("three")));
}

TEST(Log, BytesThatAreNotUtf8DoNotStopTheLogger) {
  auto out = logged(log::Level::info, log::Format::json, [] { log::info("got", {{"name", "\xFF\xFE"}}); });
  EXPECT_NO_THROW(parse_json(out));
}

}  // namespace
}  // namespace sk
