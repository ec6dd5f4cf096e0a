// MCP clients that cancel, leave or subscribe while the server prepares their answer.
#include <atomic>
#include <thread>

#include "api/mcp/legacy_session.h"
#include "http/event_stream.h"
#include "unit/api/app_fixture.h"

namespace sk::api::mcp {
namespace {

constexpr int kMoments = 15;  // more than a request has, in which it reads the clock

class McpWaiting : public AppTest {
 protected:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  // Begins a session. Returns the headers of its requests.
  Headers initialize() {
    Headers headers = {{"Accept", "application/json, text/event-stream"}};
    auto reply = send({{"id", 0},
                       {"method", "initialize"},
                       {"params",
                        {{"protocolVersion", "2025-11-25"},
                         {"capabilities", Json::object()},
                         {"clientInfo", {{"name", "test"}, {"version", "1"}}}}}},
                      headers);
    headers.emplace_back("Mcp-Session-Id", reply.headers.get("Mcp-Session-Id").value());
    return headers;
  }
  http::Reply send(Json message, const Headers& headers) {
    message["jsonrpc"] = "2.0";
    return call("POST", "/mcp", to_text(message), headers);
  }
  ResourceWatch::Options quiet() {
    return {.renew = [this] { return workspace::first_actor(keep); },
            .tell = [](std::string_view, Json) {},
            .on_denied = {},
            .is_wanted = [] { return true; }};
  }
};

// The server crashed when the cancellation came before the channel was known.
TEST_F(McpWaiting, ALockWaitCanBeCancelledAtAnyMoment) {
  auto headers = initialize();
  workspace::LockWanted busy;
  busy.path = "busy";
  keep.locks().acquire(authority, busy);
  constexpr int kRounds = 500;
  std::atomic<int> round = 0;
  std::thread canceller([&] {
    for (int at = 0; (at = round) < kRounds;)
      send({{"method", "notifications/cancelled"}, {"params", {{"requestId", at}}}}, headers);
  });
  for (int at = 0; at < kRounds; round = ++at) {
    auto reply =
        send({{"id", at},
              {"method", "tools/call"},
              {"params",
               {{"name", "lock"}, {"arguments", {{"action", "acquire"}, {"path", "busy"}, {"wait_s", 60}}}}}},
             headers);
    auto stream = std::get<std::shared_ptr<http::EventStream>>(reply.body);
    while (!stream->closed()) std::this_thread::yield();
  }
  canceller.join();
}

TEST_F(McpWaiting, ASessionMayEndAtAnyMomentOfASubscription) {
  put("a.txt", "1");
  int refused = 0;
  for (int moment = 1; moment <= kMoments; ++moment) {
    auto headers = initialize();
    clock.call_at(moment, [&] { call("DELETE", "/mcp", {}, headers); });
    auto answer = json_of(send({{"id", 1},
                                {"method", "resources/subscribe"},
                                {"params", {{"uri", "sandkeep://workspace/default/a.txt"}}}},
                               headers));
    clock.call_at(0, {});
    EXPECT_NE(answer.contains("error"), answer.contains("result")) << answer;
    if (answer.contains("error")) ++refused;
  }
  EXPECT_GT(refused, 0);
}

TEST_F(McpWaiting, ASessionKeepsItsFirstWatchUntilItEnds) {
  auto held = std::make_shared<HeldMessages>(app.mcp_memory);
  auto session =
      std::make_shared<LegacySession>("id", Id{}, Agreed{}, LegacySession::Place{held, "", 1 << 20}, 1);
  auto first = ResourceWatch::start(app, quiet()), second = ResourceWatch::start(app, quiet());
  EXPECT_EQ(session->adopt_watch(first), first);
  EXPECT_EQ(session->adopt_watch(second), first);
  session->end();
  EXPECT_EQ(session->adopt_watch(second), nullptr);
  EXPECT_EQ(session->watch(), nullptr);
}

// The leak sanitizer would find a watch that is not released.
TEST_F(McpWaiting, AKeyMayBeRevokedAtAnyMomentOfListening) {
  Json meta = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
               {"io.modelcontextprotocol/clientInfo", {{"name", "test"}, {"version", "1"}}},
               {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
  Json message = {{"id", 1},
                  {"method", "subscriptions/listen"},
                  {"params", {{"_meta", meta}, {"notifications", {{"resourcesListChanged", true}}}}}};
  auto actor = workspace::first_actor(keep);
  identity::NewKey short_lived;
  short_lived.name = "short";
  int ended = 0;
  for (int moment = 1; moment <= kMoments; ++moment) {
    clock.call_at(0, {});
    auto key = keep.access().create_key(actor, actor.principal(), short_lived);
    clock.call_at(moment, [&] { keep.access().revoke_key(actor, key.info.id); });
    try {
      auto reply = send(message, {{"Accept", "application/json, text/event-stream"},
                                  {"MCP-Protocol-Version", "2026-07-28"},
                                  {"Mcp-Method", "subscriptions/listen"},
                                  {"Authorization", "Bearer " + key.secret}});
      auto* stream = std::get_if<std::shared_ptr<http::EventStream>>(&reply.body);
      if (stream == nullptr) continue;
      if ((*stream)->closed())
        ++ended;
      else
        (*stream)->impl().on_close();  // as at the end of its connection
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::unauthorized);
    }
  }
  clock.call_at(0, {});
  EXPECT_GT(ended, 0);
}

}  // namespace
}  // namespace sk::api::mcp
