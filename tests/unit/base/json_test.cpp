#include "base/json.h"

#include <gtest/gtest.h>
#include "support/property.h"

#include "base/text.h"
#include "support/expect_error.h"

namespace sk {
namespace {

using test::expect_error;

std::string nested(size_t levels, const std::string& open, const std::string& close,
                   const std::string& inner) {
  std::string out;
  for (size_t i = 0; i < levels; ++i) out += open;
  out += inner;
  for (size_t i = 0; i < levels; ++i) out += close;
  return out;
}

TEST(Json, FieldsKeepTheOrderInWhichTheyWereWritten) {
  EXPECT_EQ(to_text(parse_json(R"({"z":1, "a":{"y":2,"b":3}})")), R"({"z":1,"a":{"y":2,"b":3}})");
}

TEST(Json, SixtyFourLevelsAreReadAndSixtyFiveRefused) {
  EXPECT_NO_THROW(parse_json(nested(64, "[", "]", "1")));
  expect_error(Code::bad_request, [] { parse_json(nested(65, "[", "]", "1")); });
  EXPECT_NO_THROW(parse_json(nested(64, R"({"a":)", "}", "1")));
  expect_error(Code::bad_request, [] { parse_json(nested(65, R"({"a":)", "}", "1")); });
}

TEST(Json, AMillionBracketsDoNotOverflowTheStack) {
  expect_error(Code::bad_request, [] { parse_json(std::string(1'000'000, '[')); });
}

TEST(Json, BracketsInsideStringsAreNotLevels) {
  auto text = "[\"" + std::string(200, '[') + "\\\"" + std::string(200, '{') + "\"]";
  EXPECT_NO_THROW(parse_json(text));
}

TEST(Json, WhatIsNotJsonIsABadRequestThatNamesIt) {
  for (const char* bad :
       {"", "{", "[1,]", "{'a':1}", "nul", "1 2", "{\"a\":1}x", "\"\x01\"", "\"\xFF\"", "NaN"}) {
    auto message = expect_error(Code::bad_request, [&] { parse_json(bad, "the batch"); });
    EXPECT_NE(message.find("the batch"), std::string::npos) << message;
  }
}

TEST(Json, AnErrorSaysWhatIsWrongAndAtWhichByteWithoutNamingTheLibrary) {
  auto message_of = [](const char* bad) {
    return expect_error(Code::bad_request, [&] { parse_json(bad, "the body"); });
  };
  EXPECT_EQ(message_of("{\"a\":"), "the body is not valid JSON: unexpected end of input at byte 6");
  EXPECT_EQ(message_of("{x}"), "the body is not valid JSON: invalid literal at byte 2");
  EXPECT_EQ(message_of("[1,]"), "the body is not valid JSON: unexpected ']' at byte 4");
  EXPECT_EQ(message_of("1e999").find("exception"), std::string::npos);
}

TEST(Json, TooManyValuesAreRefusedBeforeTheyTakeMemory) {
  auto many = [](int count) {
    std::string text = "[1";
    for (int i = 1; i < count; ++i) text += ",1";
    return text + "]";
  };
  EXPECT_EQ(parse_json(many(500'000)).size(), 500'000u);
  EXPECT_NE(expect_error(Code::bad_request, [&] { parse_json(many(1'000'001)); }).find("1,000,000 values"),
            std::string::npos);
}

// With a callback, the parser searched an array again after each of its objects: 20,000 took a second.
TEST(Json, AnArrayOfObjectsCostsAboutAsMuchAsAnArrayOfArrays) {
  auto time_of = [](std::string_view element) {
    std::string text = "[1";
    for (int i = 0; i < 100'000; ++i) text.append(",").append(element);
    text += "]";
    auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(parse_json(text).size(), 100'001u);
    return std::chrono::steady_clock::now() - began;
  };
  auto arrays = time_of("[]");
  EXPECT_LT(time_of("{}"), 100 * arrays);
}

RC_GTEST_PROP(JsonProperty, AnyBytesCanBeWrittenAndTheTextReadBack, (const std::string& bytes)) {
  auto back = parse_json(to_text(Json{{"value", bytes}})).at("value").get<std::string>();
  if (is_utf8(bytes)) RC_ASSERT(back == bytes);
}

}  // namespace
}  // namespace sk
