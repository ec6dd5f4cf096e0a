#include "api/common/held_connections.h"

#include <gtest/gtest.h>

#include <vector>

#include "api/dialects.h"
#include "app_fixture.h"

namespace sk::api {
namespace {

Code refusal_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.code();
  }
  return Code::internal;
}

TEST(HeldConnections, OneOwnerHoldsOnlyItsPart) {
  HeldConnections held({.per_owner_max = 2, .total_max = 10});
  auto first = held.hold("a"), second = held.hold("a");
  EXPECT_EQ(refusal_of([&] { auto third = held.hold("a"); }), Code::too_many_requests);
  auto other = held.hold("b");
  EXPECT_EQ(held.count(), 3u);
  first.reset();
  EXPECT_NO_THROW(first = held.hold("a"));
}

TEST(HeldConnections, AllOwnersTogetherLeaveAReserve) {
  HeldConnections held({.per_owner_max = 2, .total_max = 3});
  std::vector<std::shared_ptr<void>> places = {held.hold("a"), held.hold("a"), held.hold("b")};
  EXPECT_EQ(refusal_of([&] { auto another = held.hold("c"); }), Code::too_many_requests);
  places.clear();
  EXPECT_EQ(held.count(), 0u);
}

TEST(HeldConnections, APlaceMayOutliveThem) {
  std::shared_ptr<void> place;
  {
    HeldConnections held({.per_owner_max = 1, .total_max = 1});
    place = held.hold("a");
  }
  place.reset();
}

class HeldByReplies : public AppTest {};

TEST_F(HeldByReplies, StreamsOverThePartAreRefusedWithATimeToRetry) {
  const std::vector<std::pair<std::string, std::string>> stream = {{"Accept", "text/event-stream"}};
  std::vector<http::Reply> open;
  for (int i = 0; i < 16; ++i) open.push_back(call("GET", "/api/v1/events", "", stream));
  EXPECT_EQ(app.held_connections.count(), 16u);
  try {
    call("GET", "/api/v1/events", "", stream);
    FAIL() << "it was not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::too_many_requests);
    http::Request request;
    for (auto path : {"/api/v1/events", "/v1/files", "/mcp", "/azure/p/executions", "/librechat/v1/exec"}) {
      request.path = path;
      auto reply = dialect_error_reply(request, error);
      EXPECT_EQ(reply.status, 429) << path;
      EXPECT_EQ(reply.headers.get("Retry-After"), "5") << path;
      EXPECT_EQ(reply.headers.get("Connection"), "close") << path;
    }
  }
  EXPECT_NO_THROW(call("GET", "/api/v1/events")) << "an answer at once needs no place";
  open.pop_back();
  EXPECT_EQ(app.held_connections.count(), 15u);
  EXPECT_NO_THROW(open.push_back(call("GET", "/api/v1/events?after=now&wait=60")));
  EXPECT_EQ(app.held_connections.count(), 16u);
  EXPECT_EQ(refusal_of([&] { call("GET", "/api/v1/events?after=now&wait=60"); }), Code::too_many_requests);
}

}  // namespace
}  // namespace sk::api
