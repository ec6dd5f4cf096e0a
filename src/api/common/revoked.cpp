#include "api/common/revoked.h"

#include "api/dialects.h"

namespace sk::api {

namespace {

constexpr std::chrono::seconds kWorkEndsWithin{1};
// A stream that closes without its answer tells the client nothing, so its work has more time to end.
constexpr std::chrono::seconds kStreamedWorkEndsWithin{2};

void end_reply(http::Deferred& reply, const http::Request& request, const Error& error) {
  reply.complete(dialect_error_reply(request, error));
}

// The client gets the reason when it connects again.
void end_reply(http::EventStream& reply, const http::Request&, const Error&) { reply.close(); }

template <class Lasting>
void watch_key(const Call& call, const std::shared_ptr<Lasting>& lasting) {
  auto on_end = [weak = std::weak_ptr<Lasting>(lasting), request = without_content(call.request),
                 &background = call.app.background](const Error& error) {
    auto reply = weak.lock();
    if (!reply) return;
    if (reply->at_stop() == http::AtStop::end) return end_reply(*reply, request, error);
    constexpr bool is_stream = std::is_same_v<Lasting, http::EventStream>;
    background.run_after(is_stream ? kStreamedWorkEndsWithin : kWorkEndsWithin, [weak, request, error] {
      if (auto waiting = weak.lock()) end_reply(*waiting, request, error);
    });
  };
  try {
    lasting->own(std::make_shared<workspace::RightWatch>(
        call.app.keep.revocations().watch_key(call.actor, on_end, call.checked)));
  } catch (const Error& error) {
    on_end(error);  // it ended during the request
  }
}

}  // namespace

void end_when_revoked(const Call& call, http::Reply& reply) {
  if (!call.actor.principal()) return;
  if (auto* deferred = std::get_if<std::shared_ptr<http::Deferred>>(&reply.body)) watch_key(call, *deferred);
  if (auto* stream = std::get_if<std::shared_ptr<http::EventStream>>(&reply.body)) watch_key(call, *stream);
}

}  // namespace sk::api
