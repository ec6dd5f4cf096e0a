#include "cli/frame/args.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace sk::cli {
namespace {

const std::vector<Option> kOptions = {{"recursive", 'r', "", "everything below"},
                                      {"names", '1', "", "names only"},
                                      {"jobs", 'j', "N", "at once"},
                                      {"version", 0, "VERSION", "which"}};

Arguments parse(const std::vector<std::string>& words) { return parse_arguments(words, kOptions); }

TEST(Args, OptionsMayStandAmongPositionalArguments) {
  auto found = parse({"a", "--recursive", "b", "--version", "3", "c"});
  EXPECT_EQ(found.positional, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(found.has("recursive"));
  EXPECT_FALSE(found.has("names"));
  EXPECT_EQ(found.value("version"), "3");
}

TEST(Args, AValueMayBeAttachedOrStandAlone) {
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"--jobs=8"}, {"--jobs", "8"}, {"-j8"}, {"-j", "8"}, {"-rj8"}})
    EXPECT_EQ(parse(words).number("jobs", 1, 64), 8u);
}

TEST(Args, LettersMayBeWrittenTogether) {
  auto found = parse({"-r1"});
  EXPECT_TRUE(found.has("recursive"));
  EXPECT_TRUE(found.has("names"));
}

TEST(Args, ADashAloneIsAnOrdinaryArgument) {
  EXPECT_EQ(parse({"-", "x"}).positional, (std::vector<std::string>{"-", "x"}));
}

TEST(Args, AValueMayLookLikeAnOptionOrBeEmpty) {
  EXPECT_EQ(parse({"--version", "--recursive"}).value("version"), "--recursive");
  EXPECT_EQ(parse({"--version="}).value("version"), "");
}

TEST(Args, EverythingBehindTwoDashesIsKeptApart) {
  auto found = parse({"path", "--", "rm", "--force", "--"});
  EXPECT_EQ(found.positional, (std::vector<std::string>{"path"}));
  EXPECT_TRUE(found.has_rest);
  EXPECT_EQ(found.rest, (std::vector<std::string>{"rm", "--force", "--"}));
  EXPECT_FALSE(parse({"path"}).has_rest);
}

TEST(Args, TheLastOfRepeatedOptionsWinsAndAllAreThere) {
  auto found = parse({"--version", "1", "--version", "2"});
  EXPECT_EQ(found.value("version"), "2");
  EXPECT_EQ(found.values("version"), (std::vector<std::string>{"1", "2"}));
}

std::string complaint(const std::vector<std::string>& words) {
  try {
    parse(words);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_request);
    return error.message();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

TEST(Args, AnUnknownOptionNamesTheNearestOne) {
  EXPECT_NE(complaint({"--recursiv"}).find("--recursive"), std::string::npos);
  EXPECT_NE(complaint({"--verson", "3"}).find("--version"), std::string::npos);
  EXPECT_EQ(complaint({"--quite-another-thing"}).find("did you mean"), std::string::npos);
  EXPECT_NE(complaint({"-rx"}).find("-x"), std::string::npos);
}

TEST(Args, AMissingValueAndAValueTooMuchAreRefused) {
  EXPECT_NE(complaint({"--version"}).find("VERSION"), std::string::npos);
  EXPECT_NE(complaint({"-j"}).find("N"), std::string::npos);
  EXPECT_NE(complaint({"--recursive=yes"}).find("takes no value"), std::string::npos);
}

TEST(Args, ANumberOutsideItsRangeIsRefused) {
  for (auto text : {"0", "65", "-1", "4k", "", "99999999999999999999999"}) {
    auto found = parse({"--jobs", text});
    test::expect_error(Code::bad_request, [&] { found.number("jobs", 1, 64); });
  }
  EXPECT_EQ(parse({}).number("jobs", 1, 64), std::nullopt);
}

TEST(Args, NearestGivesUpWhenNothingIsClose) {
  EXPECT_EQ(nearest("trahs", {"trash", "put", "get"}), "trash");
  EXPECT_EQ(nearest("zzzzzz", {"trash", "put", "get"}), std::nullopt);
  EXPECT_EQ(nearest("x", {}), std::nullopt);
}

}  // namespace
}  // namespace sk::cli
