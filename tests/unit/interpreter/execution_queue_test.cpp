#include "interpreter/run/execution_queue.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "interpreter/run/client_tools.h"

namespace sk::interpreter {
namespace {

Id id_of(int number) {
  std::string hex(32, '0');
  hex.back() = static_cast<char>('0' + number);
  return *Id::from_hex(hex);
}

QueuedExecution queued(int number, bool accepted = false) {
  QueuedExecution one;
  one.execution.id = id_of(number);
  one.execution.number = number;
  one.wanted.accepted = accepted;
  one.feed = std::make_shared<ExecutionFeed>();
  return one;
}

std::vector<int64_t> numbers(const std::deque<QueuedExecution>& executions) {
  std::vector<int64_t> found;
  for (const auto& one : executions) found.push_back(one.execution.number);
  return found;
}

TEST(ExecutionQueue, ExecutionsComeOutInTheirOrder) {
  ExecutionQueue queue;
  EXPECT_FALSE(queue.take_first());
  for (int i = 1; i <= 3; ++i) queue.push(queued(i));
  EXPECT_EQ(queue.take_first()->execution.number, 1);
  EXPECT_EQ(numbers(queue.take_all()), (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(queue.empty());
}

TEST(ExecutionQueue, OneThatIsCancelledLeavesTheOthersWhereTheyAre) {
  ExecutionQueue queue;
  for (int i = 1; i <= 3; ++i) queue.push(queued(i));
  EXPECT_EQ(queue.take(id_of(2))->execution.number, 2);
  EXPECT_FALSE(queue.take(id_of(2)));
  EXPECT_EQ(numbers(queue.take_all()), (std::vector<int64_t>{1, 3}));
}

TEST(ExecutionQueue, WhatWaitsBehindAcceptedWorkGoesWithIt) {
  ExecutionQueue queue;
  for (int i = 1; i <= 4; ++i) queue.push(queued(i, i == 2));
  EXPECT_EQ(numbers(queue.take_from_first_accepted()), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_TRUE(queue.take_from_first_accepted().empty());
  EXPECT_EQ(numbers(queue.take_all()), (std::vector<int64_t>{1}));
}

TEST(RecentExecutions, FinishedOnesAreForgottenAndUnfinishedOnesNever) {
  RecentExecutions recent(1 << 20);
  auto first = queued(1), second = queued(2);
  recent.add(first);
  recent.add(second);
  second.feed->finish({});
  for (int i = 0; i < 100; ++i) {
    auto other = queued(9);
    other.feed->finish({});
    recent.add(other);
  }
  EXPECT_TRUE(recent.find(id_of(1)));
  ASSERT_EQ(recent.unfinished().size(), 1u);
  EXPECT_EQ(recent.unfinished()[0].number, 1);
  first.feed->finish({});
  EXPECT_TRUE(recent.unfinished().empty());
  recent.add(queued(3));
  EXPECT_FALSE(recent.find(id_of(1)));
  EXPECT_FALSE(recent.find(id_of(2)));
  EXPECT_TRUE(recent.find(id_of(3)));
}

TEST(RecentExecutions, WaitsEndAtTheirDeadline) {
  RecentExecutions recent(1 << 20);
  auto one = queued(1);
  recent.add(one);
  bool expired = false;
  one.feed->await(10, [&](const Execution* execution) { expired = execution == nullptr; });
  recent.expire_waits(9);
  EXPECT_FALSE(expired);
  recent.expire_waits(10);
  EXPECT_TRUE(expired);
}

TEST(RecentExecutions, LongOutputsAreForgottenSooner) {
  RecentExecutions recent(100);
  for (int number : {1, 2, 3}) {
    auto one = queued(number);
    EXPECT_TRUE(one.feed->reserve(60));
    one.feed->finish({});
    recent.add(one);
  }
  EXPECT_FALSE(recent.find(id_of(1)));
  EXPECT_FALSE(recent.find(id_of(2)));
  EXPECT_TRUE(recent.find(id_of(3)));
}

sandbox::KernelRequest tools_request(Json calls) { return {7, "tools", {{"calls", std::move(calls)}}}; }

TEST(ClientTools, TheResultsGoToTheRequestOnce) {
  ClientTools tools;
  ExecutionFeed feed;
  Json told;
  feed.follow(0, [&](const ExecutionEvent& event) { told = std::get<ToolsAsked>(event.event).calls; });
  EXPECT_FALSE(tools.take(id_of(1), 1)) << "nothing was asked yet";
  tools.ask(tools_request({"a", "b"}), id_of(1), feed);
  EXPECT_EQ(told, Json({"a", "b"}));
  EXPECT_FALSE(tools.take(id_of(2), 1)) << "another execution";
  EXPECT_FALSE(tools.take({}, 1));
  EXPECT_FALSE(tools.take(id_of(1), 2)) << "another event";
  EXPECT_EQ(tools.take(id_of(1), 1), 7u);
  EXPECT_FALSE(tools.take(id_of(1), 1));
  EXPECT_FALSE(tools.drop());
}

TEST(ClientTools, ARequestThatWillNotBeAnsweredIsDropped) {
  ClientTools tools;
  ExecutionFeed feed;
  tools.ask(tools_request({"a"}), id_of(1), feed);
  EXPECT_EQ(tools.drop(), 7u);
  EXPECT_FALSE(tools.take(id_of(1), 1));
}

TEST(ClientTools, WhatIsNoListOfCallsIsRefused) {
  ClientTools tools;
  ExecutionFeed feed;
  auto code = [&](const sandbox::KernelRequest& request) {
    try {
      tools.ask(request, id_of(1), feed);
    } catch (const Error& error) {
      return error.code();
    }
    return Code::internal;
  };
  EXPECT_EQ(code({7, "tools", Json::object()}), Code::bad_request);
  EXPECT_EQ(code(tools_request("a")), Code::bad_request);
  EXPECT_EQ(code(tools_request(Json::array())), Code::bad_request);
  EXPECT_EQ(code(tools_request(Json(std::vector<int>(1001)))), Code::bad_request);
  EXPECT_EQ(code(tools_request({std::string(2 << 20, 'x')})), Code::too_large);
  EXPECT_FALSE(tools.drop()) << "a refused question does not wait";
  tools.ask(tools_request(Json(std::vector<int>(1000))), id_of(1), feed);
  EXPECT_EQ(code(tools_request({"a"})), Code::conflict) << "it waits already";
}

}  // namespace
}  // namespace sk::interpreter
