#include "interpreter/run/execution_feed.h"

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

TEST(ExecutionFeed, AFollowerContinuesAfterTheEventThatItNames) {
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

TEST(ExecutionFeed, ALateFollowerGetsThePiecesThatItLacksJoined) {
  ExecutionFeed feed;
  feed.add(Started{});
  for (const char* piece : {"a", "bc", "d"}) feed.add(OutputAdded{TextOutput{out, piece}});
  feed.add(OutputAdded{TextOutput{err, "e"}});
  auto told_after = [&](int64_t number) {
    std::string told;
    auto follower = feed.follow(number, [&](const ExecutionEvent& event) {
      told += std::to_string(event.number) + ":";
      if (const auto* added = std::get_if<OutputAdded>(&event.event))
        told += std::get<TextOutput>(added->output).text;
      told += " ";
    });
    feed.unfollow(follower);
    return told;
  };
  EXPECT_EQ(told_after(0), "1: 4:abcd 5:e ");
  EXPECT_EQ(told_after(2), "4:bcd 5:e ");
  EXPECT_EQ(told_after(3), "4:d 5:e ");
  EXPECT_EQ(told_after(4), "5:e ");
  EXPECT_EQ(told_after(5), "");
}

TEST(ExecutionFeed, WhatIsClearedOrAnsweredIsForgotten) {
  ExecutionFeed feed;
  for (int i = 0; i < 3; ++i) {
    feed.add(OutputAdded{NoteOutput{"n"}});
    feed.add(OutputsCleared{});
    feed.add(ToolsAsked{Json::array()});
  }
  std::vector<int64_t> numbers;
  feed.follow(0, [&](const ExecutionEvent& event) { numbers.push_back(event.number); });
  EXPECT_EQ(numbers, (std::vector<int64_t>{8, 9}));
}

TEST(ExecutionFeed, AWaitEndsWithTheExecution) {
  ExecutionFeed feed;
  int calls = 0;
  auto then = [&](const Execution* execution) {
    ++calls;
    ASSERT_NE(execution, nullptr);
    EXPECT_EQ(execution->outcome, Outcome::ok);
  };
  feed.await(10, then);
  feed.expire(9);
  EXPECT_EQ(calls, 0);
  Execution done;
  done.outcome = Outcome::ok;
  feed.finish(done);
  EXPECT_EQ(calls, 1);
  feed.await(10, then);
  EXPECT_EQ(calls, 2) << "one that is finished is given at once";
  feed.expire(11);
  EXPECT_EQ(calls, 2);
}

TEST(ExecutionFeed, AListenerThatFailsDoesNotAffectOthers) {
  ExecutionFeed feed;
  int heard = 0;
  feed.follow(0, [](const ExecutionEvent&) { throw std::runtime_error("a follower that fails"); });
  feed.follow(0, [&](const ExecutionEvent&) { ++heard; });
  feed.await(100, [](const Execution*) { throw std::runtime_error("a waiter that fails"); });
  feed.await(100, [&](const Execution* execution) { heard += execution != nullptr ? 10 : 0; });
  feed.add(OutputAdded{TextOutput{out, "a"}});
  Execution first, second;
  first.code = "first";
  second.code = "second";
  feed.finish(first);
  feed.finish(second);
  EXPECT_EQ(heard, 12);
  EXPECT_EQ(feed.result().code, "first");
}

TEST(ExecutionFeed, AWaitEndsAtItsDeadlineAndOthersGoOn) {
  ExecutionFeed feed;
  std::vector<std::string> ended;
  auto named = [&](std::string name) {
    return [&ended, name](const Execution* execution) {
      ended.push_back(name + (execution != nullptr ? " with its end" : " late"));
    };
  };
  feed.await(10, named("short"));
  feed.await(20, named("long"));
  feed.on_finish([&](const Execution&) { ended.push_back("without deadline"); });
  feed.expire(10);
  EXPECT_EQ(ended, std::vector<std::string>{"short late"});
  feed.finish({});
  EXPECT_EQ(ended, (std::vector<std::string>{"short late", "long with its end", "without deadline"}));
}

}  // namespace
}  // namespace sk::interpreter
