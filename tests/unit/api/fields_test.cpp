#include "api/common/fields.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace sk::api {
namespace {

const Fields kFields = {
    {.name = "path", .about = "", .required = true},
    {.name = "count", .type = FieldType::integer, .about = ""},
    {.name = "deep", .type = FieldType::boolean, .about = ""},
    {.name = "time", .type = FieldType::time, .about = ""},
    {.name = "tags", .type = FieldType::text_list, .about = ""},
    {.name = "way", .about = "", .choices = {"in", "out"}},
};

// The message of the Error that `f` throws; empty if it throws none.
template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_request);
    return error.message();
  }
  return {};
}

std::string refusal_of(const char* json) {
  return refusal([&] { Body(kFields, Json::parse(json)); });
}

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Body, ReadsWhatIsThereAndKnowsWhatIsNot) {
  Body body(kFields,
            Json::parse(R"({"path": "a", "count": 3, "deep": true, "tags": ["x", "y"], "way": "in"})"));
  EXPECT_EQ(body.need_text("path"), "a");
  EXPECT_EQ(body.integer("count"), 3);
  EXPECT_EQ(body.boolean("deep"), true);
  EXPECT_EQ(body.texts("tags"), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(body.text("way"), "in");
  EXPECT_FALSE(body.time("time").has_value());
}

TEST(Body, TakesNullAsNotGiven) {
  Body body(kFields, Json::parse(R"({"path": "a", "count": null})"));
  EXPECT_FALSE(body.integer("count").has_value());
  EXPECT_TRUE(mentions(refusal_of(R"({"path": null})"), "'path'"));
}

TEST(Body, NamesTheFieldThatIsWrong) {
  EXPECT_TRUE(mentions(refusal_of(R"({})"), "'path' is missing"));
  EXPECT_TRUE(mentions(refusal_of(R"({"path": 1})"), "'path' must be a string"));
  EXPECT_TRUE(mentions(refusal_of(R"({"path": "a", "count": "3"})"), "'count'"));
  EXPECT_TRUE(mentions(refusal_of(R"({"path": "a", "count": 3.0})"), "'count'"));
  EXPECT_TRUE(mentions(refusal_of(R"({"path": "a", "count": 9223372036854775808})"), "'count'"));
  EXPECT_TRUE(mentions(refusal_of(R"({"path": "a", "deep": 1})"), "'deep'"));
  EXPECT_TRUE(mentions(refusal_of(R"({"path": "a", "time": "noon"})"), "'time'"));
  EXPECT_TRUE(mentions(refusal_of(R"({"path": "a", "tags": ["x", 1]})"), "'tags'"));
  EXPECT_TRUE(mentions(refusal_of(R"({"path": "a", "way": "up"})"), "'way' must be \"in\" or \"out\""));
  EXPECT_TRUE(mentions(refusal_of(R"([])"), "object"));
}

TEST(Body, OffersTheNearestNameForAnUnknownOne) {
  EXPECT_TRUE(mentions(refusal_of(R"({"path": "a", "dep": true})"), "did you mean 'deep'?"));
  EXPECT_FALSE(mentions(refusal_of(R"({"path": "a", "something": true})"), "did you mean"));
}

TEST(Body, PutsItsPlaceBeforeNames) {
  EXPECT_TRUE(
      mentions(refusal([] { Body(kFields, Json::parse("{}"), "changes[3]."); }), "'changes[3].path'"));
}

TEST(Query, RefusesUnknownRepeatedAndMistypedParameters) {
  const Fields fields = {{.name = "limit", .type = FieldType::integer, .about = ""},
                         {.name = "deep", .type = FieldType::boolean, .about = ""}};
  EXPECT_TRUE(mentions(refusal([&] { Query(fields, {{"limt", "1"}}); }), "'limit'"));
  EXPECT_TRUE(mentions(refusal([&] { Query(fields, {{"limit", "1"}, {"limit", "1"}}); }), "twice"));
  EXPECT_TRUE(mentions(refusal([&] { Query(fields, {{"limit", "-1"}}); }), "'limit'"));
  EXPECT_TRUE(mentions(refusal([&] { Query(fields, {{"deep", "yes"}}); }), "'deep'"));
  Query query(fields, {{"limit", "5"}, {"deep", "1"}});
  EXPECT_EQ(query.integer("limit"), 5);
  EXPECT_TRUE(query.flag("deep"));
  EXPECT_FALSE(Query(fields, {}).flag("deep"));
}

TEST(ParseForm, DecodesPlusPercentAndMissingValues) {
  auto pairs = parse_form("key=a%2Bb+c&empty=&alone&&x=%C3%A4");
  EXPECT_EQ(pairs, (Query::Pairs{{"key", "a+b c"}, {"empty", ""}, {"alone", ""}, {"x", "ä"}}));
  EXPECT_FALSE(refusal([] { parse_form("a=%zz"); }).empty());
}

TEST(ParseMode, TakesThreeOctalDigitsWithOrWithoutZero) {
  EXPECT_EQ(parse_mode("644", "mode"), 0644u);
  EXPECT_EQ(parse_mode("0755", "mode"), 0755u);
  for (auto text : {"", "7", "64", "0888", "4755", "00644", "rwx", "+644", "0x1f"}) {
    EXPECT_FALSE(refusal([&] { parse_mode(text, "mode"); }).empty()) << text;
  }
}

TEST(ParseMime, TakesTypesThatMayStandInAHeader) {
  EXPECT_EQ(parse_mime("text/csv", "mime"), "text/csv");
  EXPECT_EQ(parse_mime(" text/html; charset=utf-8", "mime"), "text/html; charset=utf-8");
  EXPECT_EQ(parse_mime("application/vnd.x+json", "mime"), "application/vnd.x+json");
  for (auto text :
       {"", "text", "text/", "/csv", "te xt/csv", "text/csv\r\nX: y", "text/c\xc3\xa4v", "text/<b>"}) {
    EXPECT_FALSE(refusal([&] { parse_mime(text, "mime"); }).empty()) << text;
  }
  EXPECT_FALSE(refusal([&] { parse_mime("text/" + std::string(300, 'x'), "mime"); }).empty());
}

TEST(ParseId, TakesTheOnePrefixAndNeverTheZeroId) {
  auto digits = std::string(31, '0') + "1";
  EXPECT_EQ(parse_id("v_" + digits, "v_", "version").hex(), digits);
  for (const auto& text :
       {"f_" + digits, digits, "v_" + std::string(32, '0'), std::string("v_"), "v_" + digits + "0"}) {
    EXPECT_FALSE(refusal([&] { parse_id(text, "v_", "version"); }).empty()) << text;
  }
  auto zero = refusal([&] { parse_id("v_" + std::string(32, '0'), "v_", "version"); });
  EXPECT_TRUE(mentions(zero, "not all zero")) << zero;
}

}  // namespace
}  // namespace sk::api
