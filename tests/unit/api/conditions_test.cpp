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
           {"If-Match", "latest"},
           {"If-Match", "\"" + kOne},
           {"If-Match", kOne + " " + kTwo},
           {"If-None-Match", kOne},
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
  EXPECT_THROW(conditions_from_fields(Body(fields, Json{{"if_match", Json::array()}})), Error);
}

}  // namespace
}  // namespace sk::api
