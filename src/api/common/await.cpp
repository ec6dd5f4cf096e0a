#include "api/common/await.h"

#include "api/dialects.h"
#include "base/log.h"

namespace sk::api {

namespace {

using interpreter::Execution;
using interpreter::ExecutionEvent;

// Time in the queue, and for waking the session and keeping its files.
constexpr std::chrono::hours kQueueAndKeeping{24};
// A deferred reply has its own deadline. This margin makes the deadline of the execution pass first.
constexpr std::chrono::hours kReplyLater{1};
constexpr int kGatewayTimeout = 504;

}  // namespace

AfterCall::AfterCall(const Call& call) : app(call.app), request(without_content(call.request)) {}

// An exception becomes a reply because the work has ended and the client waits.
http::Reply reply_or_error(const AfterCall& call, const std::function<http::Reply()>& make) {
  try {
    return make();
  } catch (const Error& error) {
    return dialect_error_reply(call.request, error);
  } catch (const std::exception& error) {
    log::error("an answer could not be written", {{"reason", error.what()}});
    return dialect_error_reply(
        call.request, Error(Code::internal, "Internal error of the server; its log has the details."));
  }
}

std::shared_ptr<http::Deferred> deferred_until(const AfterCall& call, std::function<void()> on_gone) {
  return std::make_shared<http::Deferred>(
      await_limit(call.app.settings) + kReplyLater,
      [request = call.request] { return overdue_reply(request); }, on_gone, on_gone);
}

std::chrono::seconds await_limit(const DialectSettings& settings) {
  return std::chrono::seconds(settings.execution_timeout_max_s) + kQueueAndKeeping;
}

TimeUs await_deadline_us(const App& app) {
  return app.clock.now_us() + await_limit(app.settings).count() * kSecondUs;
}

Error overdue_error() {
  return Error(Code::unavailable, "the execution did not end within the time that a request may wait")
      .hint("It continues. Request its result later.");
}

http::Reply overdue_reply(const http::Request& request) {
  auto reply = dialect_error_reply(request, overdue_error());
  reply.status = kGatewayTimeout;
  reply.headers.remove("Retry-After");  // the same request would run the code again
  return reply;
}

http::Reply await(const AfterCall& call, const interpreter::RunningExecution& running, Awaited wanted) {
  auto deferred = deferred_until(call, wanted.on_unanswered);
  if (wanted.by_event)
    running.feed->follow(wanted.after, [deferred, by_event = wanted.by_event](const ExecutionEvent& event) {
      if (deferred->done()) return;
      if (auto reply = by_event(event)) deferred->complete(std::move(*reply));
    });
  running.feed->await(await_deadline_us(call.app), [deferred, call, wanted](const Execution* execution) {
    if (deferred->done()) return;
    if (execution != nullptr)
      deferred->complete(reply_or_error(call, [&] { return wanted.answer(*execution); }));
    else if (deferred->complete(overdue_reply(call.request)))
      wanted.on_unanswered();
  });
  return http::Reply::deferred(std::move(deferred));
}

}  // namespace sk::api
