// Where the messages that belong to one request go, from its first notification to its answer. A handler
// that is done at once never opens one; one that waits opens it and answers from any thread, later.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include "api/mcp/jsonrpc.h"
#include "http/message.h"

namespace sk::api::mcp {

// Any thread. Shared by the connection and by whoever will answer.
class Channel {
 public:
  virtual ~Channel() = default;
  // Before the answer; dropped where the client takes nothing but an answer, or is gone.
  virtual void notify(std::string_view method, Json params) = 0;
  // The response, a whole message. Only the first counts. False when it is dropped: it was not the first, or
  // its client is known to have left for good.
  virtual bool finish(Json message) = 0;
  // The request was cancelled: no response will come.
  virtual void abandon() = 0;
  // A request of ours to the client; false where none can be sent.
  virtual bool ask(std::string_view, Json, std::function<void(const Message&)>) { return false; }
  // Ends the connection but not the request: its client comes back and resumes.
  virtual void cut() {}
};

// Server-sent events on the request's own connection, without memory. `on_gone` runs when the client left
// before the answer.
class EventChannel final : public Channel {
 public:
  explicit EventChannel(std::function<void()> on_gone);
  void notify(std::string_view method, Json params) override;
  bool finish(Json message) override;
  void abandon() override;
  http::Reply reply();

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the stream's closure, which may outlive this
};

// One JSON answer, for clients that take no events.
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

// What every reply with events says to proxies and caches.
http::Reply events_reply(std::shared_ptr<http::EventStream> stream);

}  // namespace sk::api::mcp
