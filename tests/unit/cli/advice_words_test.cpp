#include "cli/frame/advice_words.h"

#include <gtest/gtest.h>

namespace sk::cli {
namespace {

TEST(AdviceWords, OfAFullWorkspaceNameTheCommandThatDeletesRecords) {
  auto hint = hint_of(Error(Code::quota_exceeded, "full"));
  EXPECT_NE(hint.find("'sandkeep sessions purge'"), std::string::npos) << hint;
}

TEST(AdviceWords, OfAFailedRetryNameTheOperator) {
  auto hint = hint_of(Error(Code::unavailable, "failed").advise(Advice::retry_or_ask_operator));
  EXPECT_NE(hint.find("operator"), std::string::npos) << hint;
}

}  // namespace
}  // namespace sk::cli
