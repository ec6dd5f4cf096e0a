#include "http/conditional.h"

#include <gtest/gtest.h>
#include "support/property.h"

namespace sk::http {
namespace {

constexpr TimeUs kThen = 784111777 * kSecondUs;  // Sun, 06 Nov 1994 08:49:37 GMT

Verdict judge(const std::string& method, const std::vector<std::pair<std::string, std::string>>& headers,
              const Validators& validators) {
  Request request;
  request.method = method;
  for (const auto& [name, value] : headers) request.headers.add(name, value);
  return evaluate_conditions(request, validators);
}

TEST(Conditional, IfMatchWantsTheCurrentTag) {
  Validators have{"v2", kThen};
  EXPECT_EQ(judge("PUT", {{"If-Match", "\"v2\""}}, have), Verdict::proceed);
  EXPECT_EQ(judge("PUT", {{"If-Match", "v2"}}, have), Verdict::proceed);
  EXPECT_EQ(judge("PUT", {{"If-Match", "\"v1\", \"v2\""}}, have), Verdict::proceed);
  EXPECT_EQ(judge("PUT", {{"If-Match", "\"v1\""}, {"If-Match", "\"v2\""}}, have), Verdict::proceed);
  EXPECT_EQ(judge("PUT", {{"If-Match", "\"v1\""}}, have), Verdict::precondition_failed);
  EXPECT_EQ(judge("PUT", {{"If-Match", "W/\"v2\""}}, have), Verdict::precondition_failed);
  EXPECT_EQ(judge("PUT", {{"If-Match", "*"}}, have), Verdict::proceed);
  EXPECT_EQ(judge("PUT", {{"If-Match", "*"}}, {}), Verdict::precondition_failed);
}

TEST(Conditional, IfNoneMatchSparesAReadAndStopsAWrite) {
  Validators have{"v2", kThen};
  EXPECT_EQ(judge("GET", {{"If-None-Match", "\"v2\""}}, have), Verdict::not_modified);
  EXPECT_EQ(judge("HEAD", {{"If-None-Match", "W/\"v2\""}}, have), Verdict::not_modified);
  EXPECT_EQ(judge("GET", {{"If-None-Match", "\"v1\""}}, have), Verdict::proceed);
  EXPECT_EQ(judge("PUT", {{"If-None-Match", "*"}}, have), Verdict::precondition_failed);
  EXPECT_EQ(judge("PUT", {{"If-None-Match", "*"}}, {}), Verdict::proceed);
}

TEST(Conditional, DatesCountOnlyWithoutTags) {
  Validators have{"v2", kThen + 500'000};
  auto same = to_http_date(kThen);
  auto before = to_http_date(kThen - kSecondUs);
  EXPECT_EQ(judge("GET", {{"If-Modified-Since", same}}, have), Verdict::not_modified);
  EXPECT_EQ(judge("GET", {{"If-Modified-Since", before}}, have), Verdict::proceed);
  EXPECT_EQ(judge("PUT", {{"If-Modified-Since", same}}, have), Verdict::proceed);
  EXPECT_EQ(judge("GET", {{"If-Modified-Since", same}, {"If-None-Match", "\"v1\""}}, have), Verdict::proceed);
  EXPECT_EQ(judge("PUT", {{"If-Unmodified-Since", same}}, have), Verdict::proceed);
  EXPECT_EQ(judge("PUT", {{"If-Unmodified-Since", before}}, have), Verdict::precondition_failed);
  EXPECT_EQ(judge("PUT", {{"If-Unmodified-Since", before}, {"If-Match", "\"v2\""}}, have), Verdict::proceed);
  EXPECT_EQ(judge("GET", {{"If-Modified-Since", "yesterday"}}, have), Verdict::proceed);
}

TEST(Conditional, RefusesTagsThatAreNone) {
  for (auto text : {"\"open", "", ",", "\"a\" \"b\"", "\"a\"b", "a b"}) {
    try {
      EtagList::parse(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::bad_request) << text;
    }
  }
}

TEST(Conditional, IfRangeHoldsForTheExactTagOrDate) {
  Validators have{"v2", kThen};
  auto holds = [&](const std::string& value) {
    Headers headers;
    headers.set("If-Range", value);
    return if_range_holds(headers, have);
  };
  EXPECT_TRUE(if_range_holds({}, have));
  EXPECT_TRUE(holds("\"v2\""));
  EXPECT_FALSE(holds("W/\"v2\""));
  EXPECT_FALSE(holds("\"v1\""));
  EXPECT_TRUE(holds(to_http_date(kThen)));
  EXPECT_FALSE(holds(to_http_date(kThen + kSecondUs)));
}

TEST(Conditional, ReadsAllThreeFormsOfADate) {
  EXPECT_EQ(to_http_date(kThen), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), kThen);
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT"), kThen);
  EXPECT_EQ(parse_http_date("Sun Nov  6 08:49:37 1994"), kThen);
  for (auto text :
       {"", "Sun, 06 Nov 1994", "Sun, 06 Nox 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT", "\"tag\""})
    EXPECT_EQ(parse_http_date(text), std::nullopt) << text;
}

TEST(Conditional, AnySecondSurvivesTheConversionToADate) {
  bool holds = test::check_property("round trip", [] {
    auto seconds = *rc::gen::inRange<int64_t>(0, 253402300799);
    RC_ASSERT(parse_http_date(to_http_date(seconds * kSecondUs)) ==
              std::optional<TimeUs>(seconds * kSecondUs));
  });
  EXPECT_TRUE(holds);
}

TEST(Conditional, AQuotedTagMatchesItselfAndNothingElse) {
  bool holds =
      test::check_property("tags", [](const std::vector<std::string>& raw, const std::string& other) {
        auto clean = [](std::string text) {
          std::erase_if(
              text, [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == '"' || c == 0x7f; });
          return text + "x";
        };
        std::string list;
        std::vector<std::string> tags;
        for (const auto& text : raw) {
          tags.push_back(clean(text));
          list += (list.empty() ? "" : ", ") + quote_etag(tags.back());
        }
        RC_PRE(!tags.empty() && tags.size() < 100);
        auto parsed = EtagList::parse(list);
        for (const auto& tag : tags) RC_ASSERT(parsed.matches_strongly(tag));
        auto stranger = clean(other);
        bool among = std::find(tags.begin(), tags.end(), stranger) != tags.end();
        RC_ASSERT(parsed.matches_strongly(stranger) == among);
      });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace sk::http
