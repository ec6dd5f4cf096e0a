#include "api/mcp/channel.h"

#include "base/mutex.h"

namespace sk::api::mcp {

namespace {

// Longer than any wait for an execution (api/common/await.h), which answers at its own deadline.
constexpr auto kWaitMost = std::chrono::hours(24 * 9);

}  // namespace

http::Reply events_reply(std::shared_ptr<http::EventStream> stream) {
  auto reply = http::Reply::events(std::move(stream));
  reply.headers.set("Cache-Control", "no-cache, no-transform");
  reply.headers.set("X-Accel-Buffering", "no");
  return reply;
}

struct EventChannel::State {
  Mutex mutex;
  bool ended SK_GUARDED_BY(mutex) = false;
  std::function<void()> on_gone;
  std::weak_ptr<http::EventStream> stream;
  std::shared_ptr<http::EventStream> unclaimed SK_GUARDED_BY(mutex);  // set until the reply takes it

  std::shared_ptr<http::EventStream> live() { return stream.lock(); }
  // Returns true for the first caller.
  bool end() {
    MutexLock lock(mutex);
    return !std::exchange(ended, true);
  }
};

EventChannel::EventChannel(std::function<void()> on_gone) : state_(std::make_shared<State>()) {
  state_->on_gone = std::move(on_gone);
  auto stream = std::make_shared<http::EventStream>([state = state_] {
    if (state->end() && state->on_gone) state->on_gone();
  });
  state_->stream = stream;
  state_->unclaimed = std::move(stream);
}

http::Reply EventChannel::reply() {
  MutexLock lock(state_->mutex);
  return events_reply(std::move(state_->unclaimed));
}

void EventChannel::notify(std::string_view method, Json params) {
  auto stream = state_->live();
  if (stream)
    stream->send({.id = {}, .name = {}, .data = to_text(notification_message(method, std::move(params)))});
}

bool EventChannel::finish(Json message) {
  auto stream = state_->live();
  if (!state_->end() || !stream) return false;
  const bool sent = stream->send({.id = {}, .name = {}, .data = to_text(message)});
  stream->close();
  return sent;
}

void EventChannel::abandon() {
  auto stream = state_->live();
  if (state_->end() && stream) stream->close();
}

JsonChannel::JsonChannel(std::function<void()> on_gone)
    : deferred_(std::make_shared<http::Deferred>(
          kWaitMost, [] { return http::Reply::empty(504); }, std::move(on_gone))) {}

bool JsonChannel::finish(Json message) { return deferred_->complete(http::Reply::json(message)); }

void JsonChannel::abandon() { deferred_->complete(http::Reply::empty(202)); }

}  // namespace sk::api::mcp
