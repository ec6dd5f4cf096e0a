#include "api/common/conditions.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace sk::api {
namespace {

const std::string kOne = "v_00000000000000000000000000000001";
const std::string kTwo = "v_00000000000000000000000000000002";

http::Headers headers(std::initializer_list<std::pair<std::string, std::string>> fields) {
  http::Headers out;
  for (const auto& [name, value] : fields) out.add(name, value);
  return out;
}

TEST(Conditions, AreNoneWithoutHeaders) {
  auto conditions = conditions_from_headers({});
  EXPECT_TRUE(conditions.if_match.empty());
  EXPECT_FALSE(conditions.if_match_any || conditions.if_none_match_any || conditions.fence);
  EXPECT_TRUE(conditions.lock_tokens.empty());
}

TEST(Conditions, ReadListsQuotedBareAndWeak) {
  auto conditions = conditions_from_headers(headers({{"If-Match", "\"" + kOne + "\", W/\"" + kTwo + "\""},
                                                     {"if-match", kTwo},
                                                     {"X-Sandkeep-Lock", "a, b"},
                                                     {"X-Sandkeep-Lock", "c"},
                                                     {"X-Sandkeep-Fence", " 7 "}}));
  ASSERT_EQ(conditions.if_match.size(), 3u);
  EXPECT_EQ(conditions.if_match[0].with_prefix("v_"), kOne);
  EXPECT_EQ(conditions.if_match[1].with_prefix("v_"), kTwo);
  EXPECT_EQ(conditions.lock_tokens, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(conditions.fence, 7);
}

TEST(Conditions, KnowTheStars) {
  EXPECT_TRUE(conditions_from_headers(headers({{"If-Match", "*"}})).if_match_any);
  EXPECT_TRUE(conditions_from_headers(headers({{"If-None-Match", " * "}})).if_none_match_any);
}

// A condition that is dropped because it could not be read would let a write through that its writer wanted
// to be refused.
TEST(Conditions, RefuseWhatCannotBeReadInsteadOfDroppingIt) {
  for (const auto& [name, value] : std::initializer_list<std::pair<std::string, std::string>>{
           {"If-Match", ""},
           {"If-Match", "\"" + kOne},
           {"If-Match", kOne + " " + kTwo},
           {"If-None-Match", kOne},
           {"If-Unmodified-Since", ""},
           {"If-Unmodified-Since", "yesterday"},
           {"If-Unmodified-Since", "2026-11-16T03:00:00Z"},
           {"X-Sandkeep-Fence", ""},
           {"X-Sandkeep-Fence", "-1"},
           {"X-Sandkeep-Fence", "99999999999999999999"}}) {
    EXPECT_THROW(conditions_from_headers(headers({{name, value}})), Error) << name << ": " << value;
  }
}

TEST(Conditions, OfTheBodyStandOverThoseOfTheHeaders) {
  const Fields fields = condition_fields();
  Body body(fields, Json{{"if_match", {kTwo}}, {"lock_tokens", {"b"}}, {"fence", 9}});
  auto conditions = conditions_from_body(
      headers({{"If-Match", kOne}, {"X-Sandkeep-Lock", "a"}, {"X-Sandkeep-Fence", "1"}}), body);
  ASSERT_EQ(conditions.if_match.size(), 1u);
  EXPECT_EQ(conditions.if_match[0].with_prefix("v_"), kTwo);
  EXPECT_EQ(conditions.lock_tokens, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(conditions.fence, 9);
  EXPECT_THROW(conditions_from_fields({}, Body(fields, Json{{"if_match", Json::array()}})), Error);
}

// Another server's tag can be read well enough: nothing here has it.
TEST(Conditions, ATagThatIsNoneOfOursMatchesNothing) {
  for (const auto* value : {"\"abc\"", "latest", "W/\"1\"", "\"v_1\""}) {
    auto conditions = conditions_from_headers(headers({{"If-Match", value}}));
    EXPECT_TRUE(conditions.if_match_foreign && conditions.if_match.empty()) << value;
  }
  auto both = conditions_from_headers(headers({{"If-Match", "\"abc\", " + kOne}}));
  EXPECT_TRUE(both.if_match_foreign);
  EXPECT_EQ(both.if_match.size(), 1u);
}

TEST(Conditions, ATagStandsOverADate) {
  const std::string date = "Sun, 06 Nov 1994 08:49:37 GMT";
  auto alone = conditions_from_headers(headers({{"If-Unmodified-Since", date}}));
  EXPECT_EQ(alone.if_unmodified_since_us, 784'111'777 * kSecondUs);
  auto with_tag = conditions_from_headers(headers({{"If-Unmodified-Since", date}, {"If-Match", kOne}}));
  EXPECT_FALSE(with_tag.if_unmodified_since_us);
}

TEST(Conditions, OfABatchHoldForEachChangeBesideItsOwn) {
  const Fields fields = condition_fields();
  auto of_all = lock_tokens_from_headers(
      headers({{"X-Sandkeep-Lock", "a"}, {"X-Sandkeep-Fence", "1"}, {"If-Match", "x"}}));
  EXPECT_FALSE(of_all.if_match_foreign);
  auto plain = conditions_from_fields(of_all, Body(fields, Json::object()));
  EXPECT_EQ(plain.lock_tokens, std::vector<std::string>{"a"});
  EXPECT_EQ(plain.fence, 1);
  auto own = conditions_from_fields(of_all, Body(fields, Json{{"lock_tokens", {"b"}}, {"fence", 9}}));
  EXPECT_EQ(own.lock_tokens, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(own.fence, 9);
}

TEST(Conditions, AWriteThatTakesNoneRefusesThem) {
  Operation plain{.method = "POST", .pattern = "/x", .id = "x", .tag = "x", .summary = "x"};
  for (const auto* name : {"If-Match", "If-None-Match", "If-Unmodified-Since", "X-Sandkeep-Fence"})
    EXPECT_THROW(refuse_conditions(plain, headers({{name, "1"}})), Error) << name;
  EXPECT_NO_THROW(refuse_conditions(plain, headers({{"X-Sandkeep-Lock", "a"}})));
  auto many = plain;
  many.opens_locks = true;
  EXPECT_NO_THROW(refuse_conditions(many, headers({{"X-Sandkeep-Fence", "1"}})));
  EXPECT_THROW(refuse_conditions(many, headers({{"If-Match", kOne}})), Error);
  auto one = plain, read = plain;
  one.conditional_write = true;
  read.method = "GET";
  EXPECT_NO_THROW(refuse_conditions(one, headers({{"If-Match", kOne}, {"X-Sandkeep-Fence", "1"}})));
  EXPECT_NO_THROW(refuse_conditions(read, headers({{"If-None-Match", kOne}})));
}

}  // namespace
}  // namespace sk::api
