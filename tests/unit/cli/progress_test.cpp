#include "cli/frame/progress.h"

#include <gtest/gtest.h>

#include "cli/frame/columns.h"

namespace sk::cli {
namespace {

constexpr uint64_t kMiB = 1 << 20;

ProgressState half_way() {
  return {.label = "put",
          .bytes_done = 50 * kMiB,
          .bytes_total = 100 * kMiB,
          .files_done = 3,
          .files_total = 7,
          .bytes_per_s = 10.0 * kMiB};
}

TEST(Progress, ALineTellsHowMuchHowFastAndHowLongStill) {
  EXPECT_EQ(format_progress(half_way(), 63, false),
            "put   50%  50.0 MiB of 100 MiB  10.0 MiB/s  5 s left  3/7 files");
  EXPECT_EQ(format_progress(half_way(), 80, false),
            "put  [#######......]   50%  50.0 MiB of 100 MiB  10.0 MiB/s  5 s left  3/7 files");
}

TEST(Progress, NoLineIsWiderThanTheTerminal) {
  for (size_t width = 1; width < 200; ++width)
    for (bool utf8 : {false, true}) {
      auto line = format_progress(half_way(), width, utf8);
      EXPECT_LE(display_width(line), std::max<size_t>(width, 3)) << line;
      EXPECT_TRUE(line.starts_with("put")) << line;
    }
}

TEST(Progress, ANarrowTerminalKeepsWhatMattersMost) {
  EXPECT_EQ(format_progress(half_way(), 12, false), "put   50%");
  EXPECT_EQ(format_progress(half_way(), 22, false), "put   50%  10.0 MiB/s");
  EXPECT_EQ(format_progress(half_way(), 5, false), "put");
}

TEST(Progress, AnUnknownLengthShowsNeitherPercentNorTimeLeft) {
  auto state = half_way();
  state.bytes_total = std::nullopt;
  state.files_total = 1;
  EXPECT_EQ(format_progress(state, 80, false), "put  50.0 MiB  10.0 MiB/s");
}

TEST(Progress, BeforeARateIsKnownThereIsNoTimeLeft) {
  auto state = half_way();
  state.bytes_per_s = std::nullopt;
  EXPECT_EQ(format_progress(state, 45, false), "put   50%  50.0 MiB of 100 MiB  3/7 files");
}

TEST(Progress, MoreThanAnnouncedIsNotMoreThanAllOfIt) {
  auto state = half_way();
  state.bytes_done = 200 * kMiB;
  EXPECT_NE(format_progress(state, 80, false).find("100%"), std::string::npos);
  EXPECT_EQ(format_progress(state, 80, false).find("left"), std::string::npos);
}

TEST(Progress, EmptyFilesAreCountedByFile) {
  ProgressState state{.label = "put",
                      .bytes_done = 0,
                      .bytes_total = 0,
                      .files_done = 1,
                      .files_total = 4,
                      .bytes_per_s = {}};
  EXPECT_NE(format_progress(state, 80, false).find(" 25%"), std::string::npos);
}

TEST(Progress, TheRateForgetsAFastStart) {
  RateMeter meter;
  EXPECT_EQ(meter.bytes_per_s(), std::nullopt);
  meter.sample(0, 0);
  meter.sample(100'000, kMiB);
  EXPECT_EQ(meter.bytes_per_s(), std::nullopt) << "a tenth of a second tells nothing";
  meter.sample(1'000'000, 100 * kMiB);
  EXPECT_DOUBLE_EQ(*meter.bytes_per_s(), 100.0 * kMiB);
  for (int64_t second = 2; second <= 20; ++second) meter.sample(second * 1'000'000, 100 * kMiB);
  EXPECT_DOUBLE_EQ(*meter.bytes_per_s(), 0) << "a stall shows";
}

TEST(Progress, BytesTakenBackByARetryDoNotMakeTheRateNegative) {
  RateMeter meter;
  meter.sample(0, 10 * kMiB);
  meter.sample(1'000'000, 0);
  EXPECT_DOUBLE_EQ(*meter.bytes_per_s(), 0);
}

}  // namespace
}  // namespace sk::cli
