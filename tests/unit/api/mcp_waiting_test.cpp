// MCP clients that cancel, leave or subscribe while the server prepares their answer.
#include <atomic>
#include <thread>

#include "http/event_stream.h"
#include "unit/api/app_fixture.h"

namespace sk::api::mcp {
namespace {

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
};

// The server crashed when the cancellation came before the channel was known.
TEST_F(McpWaiting, ALockWaitCanBeCancelledAtAnyMoment) {
  auto headers = initialize();
  keep.locks().acquire(authority, {.path = "busy"});
  constexpr int kRounds = 200;
  std::atomic<int> round = 0;
  std::thread canceller([&] {
    for (int at = 0; (at = round) < kRounds;)
      send({{"method", "notifications/cancelled"}, {"params", {{"requestId", at}}}}, headers);
  });
  for (int at = 0; at < kRounds; round = ++at) {
    auto reply = send(
        {{"id", at},
         {"method", "tools/call"},
         {"params",
          {{"name", "lock"}, {"arguments", {{"action", "acquire"}, {"path", "busy"}, {"wait_s", 60}}}}}},
        headers);
    auto stream = std::get<std::shared_ptr<http::EventStream>>(reply.body);
    while (!stream->closed()) std::this_thread::yield();
  }
  canceller.join();
}

}  // namespace
}  // namespace sk::api::mcp
