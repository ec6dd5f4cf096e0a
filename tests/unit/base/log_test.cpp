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

TEST(Log, RepeatedLinesAreFoldedIntoOne) {
  for (auto format : {log::Format::text, log::Format::json}) {
    auto out = logged(log::Level::info, format, [] {
      for (int i = 0; i < 100; ++i) log::warn("cannot accept", {{"number", i}});
      log::write_folded();
    });
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 11) << out;
    EXPECT_THAT(out, testing::HasSubstr("cannot accept … repeated 90 times"));
  }
}

TEST(Log, LinesOfWhichEachIsWantedAreAllWritten) {
  auto out = logged(log::Level::info, log::Format::text, [] {
    for (int i = 0; i < 100; ++i) log::write(log::Level::info, "request", {}, log::Fold::nothing);
  });
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 100);
}

TEST(Log, KeysAreNeverWritten) {
  std::string key = "skey_q3Zt_9-uVwXyZ0123456789abcdefghijklmnopqrs";
  log::hide("an-operators-own-key");
  for (auto format : {log::Format::text, log::Format::json}) {
    auto out = logged(log::Level::info, format, [&] {
      log::info("got " + key, {{"path", "//librechat/" + key}, {"own", "/x/an-operators-own%2dkey"}});
    });
    EXPECT_THAT(out, testing::AllOf(testing::Not(testing::HasSubstr(key)), testing::HasSubstr("got {key}"),
                                    testing::HasSubstr("//librechat/{key}"), testing::HasSubstr("/x/{key}")));
  }
  log::hide("");
}

TEST(Log, ALineHasABoundedLength) {
  auto out = logged(log::Level::info, log::Format::text,
                    [] { log::info(std::string(100'000, 'm'), {{"path", std::string(100'000, 'p')}}); });
  EXPECT_LT(out.size(), 5000u);
}

TEST(Log, BytesThatAreNotUtf8DoNotStopTheLogger) {
  auto out = logged(log::Level::info, log::Format::json, [] { log::info("got", {{"name", "\xFF\xFE"}}); });
  EXPECT_NO_THROW(parse_json(out));
}

}  // namespace
}  // namespace sk
