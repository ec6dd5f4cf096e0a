#include "base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <set>

namespace sk {
namespace {

TEST(Error, EveryCodeHasItsOwnNameAStatusAndAdvice) {
  std::set<std::string_view> names;
  for (const auto& code : all_codes()) {
    EXPECT_EQ(&info(code.code), &code) << "the table must be in the enum's order";
    EXPECT_TRUE(names.insert(code.name).second) << code.name;
    EXPECT_GE(code.http_status, 400) << code.name;
    EXPECT_LE(code.http_status, 599) << code.name;
    EXPECT_TRUE(code.hint.ends_with('.')) << code.name;
  }
}

TEST(Error, CarriesItsCodesStatusAndAdviceUnlessItHasItsOwn) {
  Error plain(Code::locked, "held by ada");
  EXPECT_EQ(plain.http_status(), 423);
  EXPECT_STREQ(plain.what(), "held by ada");
  EXPECT_EQ(plain.hint(), info(Code::locked).hint);
  EXPECT_EQ(Error(Code::locked, "x").hint("Ask ada.").hint(), "Ask ada.");
}

TEST(Error, CarriesFactsInTheOrderInWhichTheyWereGiven) {
  auto error = Error(Code::precondition_failed, "x").with("version_id", "v_1").with("size", int64_t{5});
  ASSERT_EQ(error.facts().size(), 2u);
  EXPECT_EQ(error.facts()[0].first, "version_id");
  EXPECT_EQ(std::get<std::string>(error.facts()[0].second), "v_1");
  EXPECT_EQ(std::get<int64_t>(error.facts()[1].second), 5);
}

TEST(Error, SystemErrorsTellAFullDiskFromOtherFaults) {
  EXPECT_EQ(system_error("x", ENOSPC).code(), Code::disk_full);
  EXPECT_EQ(system_error("x", EDQUOT).code(), Code::disk_full);
  EXPECT_EQ(system_error("x", EIO).code(), Code::internal);
  EXPECT_THAT(system_error("cannot open a", ENOENT).message(), testing::StartsWith("cannot open a: "));
}

TEST(ErrorDeathTest, ABrokenInvariantPrintsWhereAndWhat) {
  int have = 1;
  EXPECT_DEATH(SK_CHECK(have == 2, std::to_string(have)),
               "error_test.cpp:[0-9]+: CHECK\\(have == 2\\) failed: 1");
}

}  // namespace
}  // namespace sk
