#include "interpreter/execution_feed.h"

#include <gtest/gtest.h>

namespace sk::interpreter {
namespace {

using enum TextOutput::Stream;

KeptFile kept(const std::string& path, uint64_t size) {
  KeptFile file;
  file.path = path;
  file.size = size;
  return file;
}

TEST(ExecutionFeed, EventsAddUpToTheExecution) {
  ExecutionFeed feed;
  Execution asked;
  asked.code = "1";
  EXPECT_EQ(feed.so_far(asked).status, ExecutionStatus::queued);
  feed.add(Started{true, 5});
  feed.add(OutputAdded{TextOutput{out, "gone"}});
  feed.add(OutputsCleared{});
  feed.add(OutputAdded{TextOutput{out, "a"}});
  feed.add(OutputAdded{TextOutput{out, "b"}});
  feed.add(FileKept{kept("f", 1)});
  feed.add(FileKept{kept("g", 2)});
  feed.add(FileKept{kept("f", 3)});
  feed.add(ToolsAsked{Json::array()});
  auto now = feed.so_far(asked);
  EXPECT_EQ(now.code, "1");
  EXPECT_EQ(now.status, ExecutionStatus::running);
  EXPECT_TRUE(now.woke);
  EXPECT_EQ(now.started_us, 5);
  EXPECT_EQ(now.outputs, Outputs{TextOutput({out, "ab"})});
  ASSERT_EQ(now.files.kept.size(), 2u);
  EXPECT_EQ(now.files.kept[0].path, "g");
  EXPECT_EQ(now.files.kept[1].size, 3u);
  EXPECT_FALSE(now.outcome);
}

TEST(ExecutionFeed, OnceFinishedTheResultIsTheExecution) {
  ExecutionFeed feed;
  feed.add(OutputAdded{TextOutput{out, "as it was told"}});
  Execution done;
  done.status = ExecutionStatus::done;
  done.outcome = Outcome::oom;
  feed.finish(done);
  EXPECT_EQ(feed.so_far({}).outcome, Outcome::oom);
  EXPECT_TRUE(feed.so_far({}).outputs.empty());
}

TEST(ExecutionFeed, AFollowerGoesOnAfterTheEventThatItNames) {
  ExecutionFeed feed;
  feed.add(Started{});
  feed.add(OutputAdded{NoteOutput{"n"}});
  std::vector<int64_t> seen;
  bool ended = false;
  auto number = feed.follow(1, [&](const ExecutionEvent& event) {
    seen.push_back(event.number);
    ended = std::holds_alternative<Ended>(event.event);
  });
  feed.add(OutputsCleared{});
  feed.finish({});
  EXPECT_EQ(seen, (std::vector<int64_t>{2, 3, 4}));
  EXPECT_TRUE(ended);
  feed.unfollow(number);
}

}  // namespace
}  // namespace sk::interpreter
