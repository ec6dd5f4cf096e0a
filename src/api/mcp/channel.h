// The destination of messages that belong to one request, from its first notification to its answer. A
// handler that answers immediately never opens a channel. A handler that waits opens one and answers later
// from any thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include "api/mcp/jsonrpc.h"
#include "http/message.h"

namespace sk::api::mcp {

// Any thread. Shared by the connection and the code that will answer.
class Channel {
 public:
  virtual ~Channel() = default;
  // Sends a notification before the answer. Dropped when the client only accepts an answer, or has
  // disconnected.
  virtual void notify(std::string_view method, Json params) = 0;
  // Sends the response, a complete message. Only the first one is sent. Returns false when it is dropped: it
  // was not the first, or its client has left permanently.
  virtual bool finish(Json message) = 0;
  // Ends a cancelled request without a response.
  virtual void abandon() = 0;
  // Sends a request to the client. Returns false when that is not possible.
  virtual bool ask(std::string_view, Json, std::function<void(const RpcMessage&)>) { return false; }
  // Ends the connection but not the request; the client reconnects and resumes.
  virtual void cut() {}
};

// Server-sent events on the request's own connection, without replay. `on_gone` runs when the client
// disconnects before the answer.
class EventChannel final : public Channel {
 public:
  explicit EventChannel(std::function<void()> on_gone);
  void notify(std::string_view method, Json params) override;
  bool finish(Json message) override;
  void abandon() override;
  http::Reply reply();

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the stream's closure, which may outlive the channel
};

// One JSON answer, for clients that accept no events.
class JsonChannel final : public Channel {
 public:
  explicit JsonChannel(std::function<void()> on_gone);
  void notify(std::string_view, Json) override {}
  bool finish(Json message) override;
  void abandon() override;
  http::Reply reply() { return http::Reply::deferred(deferred_); }

 private:
  std::shared_ptr<http::Deferred> deferred_;
};

// Returns a reply with the headers that event streams need for proxies and caches.
http::Reply events_reply(std::shared_ptr<http::EventStream> stream);

}  // namespace sk::api::mcp
