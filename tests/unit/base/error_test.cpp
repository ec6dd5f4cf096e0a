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
  }
}

TEST(Error, CarriesItsCodesStatusAndAdviceUnlessItHasItsOwn) {
  Error plain(Code::locked, "held by ada");
  EXPECT_EQ(plain.http_status(), 423);
  EXPECT_STREQ(plain.what(), "held by ada");
  EXPECT_EQ(plain.advice(), Advice::wait_for_lock);
  EXPECT_EQ(plain.hint(), info(Advice::wait_for_lock).words);
  EXPECT_EQ(Error(Code::locked, "x").advise(Advice::lock_again).advice(), Advice::lock_again);
  auto own = Error(Code::locked, "x").hint("Ask ada.");
  EXPECT_EQ(own.hint(), "Ask ada.");
  EXPECT_EQ(own.advice(), std::nullopt) << "nobody has other words for it";
}

TEST(Error, SpeaksInTheTermsOfAClientThatKnowsOtherPaths) {
  auto error = Error(Code::locked, quoted_path("a/b") + " is not a/b")
                   .with("holder", "a/b")
                   .with_paths("both", Sentence::of_path("a") + " and " + Sentence::of_path("b"));
  auto renamed =
      error.about("put").in_terms_of([](std::string_view path) { return "/x/" + std::string(path); });
  EXPECT_EQ(renamed.message(), "put: '/x/a/b' is not a/b");
  EXPECT_EQ(std::get<std::string>(renamed.facts()[0].second), "a/b");
  EXPECT_EQ(std::get<std::string>(renamed.facts()[1].second), "/x/a and /x/b");
  EXPECT_EQ(error.message(), "'a/b' is not a/b");
}

TEST(Error, ADialectsWordsReplaceTheGeneralOnesAndTakeTheFacts) {
  constexpr AdviceWords kWords[] = {{Advice::lock_again, "{path} of {size} bytes: POST /{id}/{path}, {x"}};
  auto error = Error(Code::locked, "x").advise(Advice::lock_again).with("path", "a").with("size", int64_t{5});
  EXPECT_EQ(error.hint(kWords), "a of 5 bytes: POST /{id}/a, {x");
  EXPECT_EQ(error.hint(), info(Advice::lock_again).words);
  EXPECT_EQ(Error(Code::locked, "x").hint("own {path}").with("path", "a").hint(kWords), "own {path}");
}

TEST(Error, TellsWhenARetryMayHelpUnlessAnOperatorMustActFirst) {
  EXPECT_EQ(Error(Code::too_many_requests, "x").retry_in(12).retry_after_s(), 12);
  EXPECT_EQ(Error(Code::unavailable, "x").retry_in(0).retry_after_s(), 1) << "at least a second";
  EXPECT_EQ(Error(Code::too_many_requests, "x").advise(Advice::end_a_session).retry_after_s(), 5);
  EXPECT_EQ(Error(Code::unavailable, "x").retry_after_s(), 5);
  EXPECT_EQ(Error(Code::unavailable, "x").advise(Advice::retry_when_back).retry_after_s(), 5);
  for (auto advice : {Advice::ask_operator, Advice::complete_sandbox, Advice::read_log})
    EXPECT_EQ(Error(Code::unavailable, "x").advise(advice).retry_after_s(), std::nullopt);
  EXPECT_EQ(Error(Code::quota_exceeded, "x").retry_after_s(), std::nullopt);
}

TEST(Error, AboutAThingKeepsAllButTheBeginningOfItsMessage) {
  auto error = Error(Code::locked, "is locked").advise(Advice::lock_again).with("path", "a").about("b.txt");
  EXPECT_EQ(error.message(), "b.txt: is locked");
  EXPECT_EQ(error.advice(), Advice::lock_again);
  EXPECT_EQ(error.facts().size(), 1u);
}

TEST(Advice, HasANameOfItsOwnAndAWholeSentence) {
  std::set<std::string_view> names;
  for (const auto& one : kAdvice) {
    EXPECT_EQ(&info(one.advice), &one) << one.name;
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_EQ(advice_named(one.name), one.advice);
    EXPECT_FALSE(one.words.empty()) << one.name;
  }
  EXPECT_EQ(advice_named("of_a_newer_server"), std::nullopt);
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
