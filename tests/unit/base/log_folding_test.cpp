#include "base/log_folding.h"

#include <gtest/gtest.h>

namespace sk::log {
namespace {

class LineFoldingTest : public testing::Test {
 protected:
  int written(int lines, std::string_view message, Level level = Level::warn) {
    int out = 0;
    for (int i = 0; i < lines; ++i) out += folding.admits(level, message, now) ? 1 : 0;
    return out;
  }

  LineFolding folding;
  LineFolding::Time now{std::chrono::hours(1)};
};

TEST_F(LineFoldingTest, SomeLinesAreWrittenAndTheOthersCounted) {
  EXPECT_EQ(written(100, "slow disk"), 10);
  EXPECT_TRUE(folding.take_ended(now + LineFolding::kWindow - std::chrono::milliseconds(1)).empty());
  auto ended = folding.take_ended(now + LineFolding::kWindow);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].message, "slow disk");
  EXPECT_EQ(ended[0].level, Level::warn);
  EXPECT_EQ(ended[0].count, 90u);
  now += LineFolding::kWindow;
  EXPECT_EQ(written(1, "slow disk"), 1) << "the next window begins";
  EXPECT_TRUE(folding.take_ended(now + LineFolding::kWindow).empty()) << "nothing was left out";
}

TEST_F(LineFoldingTest, LinesOfAnotherMessageOrLevelAreCountedByThemselves) {
  EXPECT_EQ(written(50, "a"), 10);
  EXPECT_EQ(written(50, "b"), 10);
  EXPECT_EQ(written(50, "a", Level::error), 10);
  EXPECT_EQ(folding.take_all().size(), 3u);
  EXPECT_TRUE(folding.take_all().empty());
}

TEST_F(LineFoldingTest, LinesThatAreFewAreAllWritten) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(folding.take_ended(now).empty());
    EXPECT_EQ(written(5, "a"), 5);
    now += LineFolding::kWindow;
  }
}

TEST_F(LineFoldingTest, DifferentLinesWithoutEndTakeNoMoreMemory) {
  for (size_t i = 0; i < 10 * LineFolding::kRowsMax; ++i)
    EXPECT_EQ(written(1, "message " + std::to_string(i)), 1) << "what is not counted is written";
  EXPECT_EQ(written(50, "message 0"), 9) << "what is counted goes on";
  EXPECT_EQ(written(50, "another"), 50);
  folding.take_ended(now + LineFolding::kWindow);
  EXPECT_EQ(written(50, "another"), 10) << "there is room again";
}

}  // namespace
}  // namespace sk::log
