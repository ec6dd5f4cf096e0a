// Waits for a session or an execution on behalf of a request. The wait uses no thread. A request that still
// waits for its session is dropped when the client disconnects; an execution continues.
#pragma once

#include <functional>
#include <optional>

#include "api/common/call.h"
#include "base/error.h"
#include "base/later.h"
#include "http/message.h"
#include "interpreter/interpreter.h"

namespace sk::api {

// The parts of a call that a reply needs after the handler has returned.
struct AfterCall {
  explicit AfterCall(const Call& call);
  App& app;
  http::Request request;  // without content
};

// Returns how long a request waits for an execution. It exceeds the longest possible execution under these
// settings, including queueing, waking the session and keeping its files.
std::chrono::seconds await_limit(const DialectSettings& settings);
// Returns the deadline of a wait that begins now.
TimeUs await_deadline_us(const App& app);
// The error of a request whose deadline has passed, and the 504 reply that carries it in the dialect's shape.
Error overdue_error();
http::Reply overdue_reply(const http::Request& request);

// Returns a deferred reply with the deadline of a wait. `on_gone` is called when the client disconnects or
// the deadline passes first.
std::shared_ptr<http::Deferred> deferred_until(const AfterCall& call, std::function<void()> on_gone);
// Returns the reply that `make` returns, or the error that it throws in the shape of the dialect.
http::Reply reply_or_error(const AfterCall& call, const std::function<http::Reply()>& make);

struct Awaited {
  std::function<http::Reply(const interpreter::Execution&)> answer;
  // Called when the client did not get the reply: it disconnected, or the deadline has passed.
  std::function<void()> on_unanswered = [] {};
  // Called for each event before the end. Returns a reply to finish the wait, or nullopt to continue it.
  std::function<std::optional<http::Reply>(const interpreter::ExecutionEvent&)> by_event = {};
  int64_t after = 0;  // by_event is called for events after this one
};

// Returns a deferred reply. It completes at the end of the execution, at an event, or at the deadline,
// whichever is first.
http::Reply await(const AfterCall& call, const interpreter::RunningExecution& running, Awaited wanted);

// Makes the reply that `answer` returns, which may itself be a deferred one or a stream: at once if the
// result is known, else as a deferred reply. Throws an Error that is known at once; a later one becomes a
// reply in the dialect's shape. A client that disconnects gives up; if the work had begun, `on_gone` gets its
// result instead of `answer`. Both may run after the Call is destroyed, on any thread.
template <class T>
http::Reply when_known(
    const Call& call, const Later<T>& later, std::function<http::Reply(const T&)> answer,
    std::function<void(const T&)> on_gone = [](const T&) {}) {
  if (later.known()) return answer(later.get());
  auto deferred = deferred_until(AfterCall(call), [later] { later.give_up(); });
  later.then([deferred, call = AfterCall(call), answer = std::move(answer),
              on_gone = std::move(on_gone)](Result<T> result) {
    if (const Error* error = result.error()) {
      deferred->complete(reply_or_error(call, [&]() -> http::Reply { throw Error(*error); }));
      return;
    }
    const T value = result.take();
    if (deferred->done() || !deferred->complete(reply_or_error(call, [&] { return answer(value); })))
      on_gone(value);
  });
  return http::Reply::deferred(deferred);
}

}  // namespace sk::api
