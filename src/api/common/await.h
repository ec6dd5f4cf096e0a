// Waits for an execution on behalf of a request. The wait uses no thread. The execution continues when the
// client disconnects.
#pragma once

#include <functional>
#include <optional>

#include "api/common/call.h"
#include "base/error.h"
#include "http/message.h"
#include "interpreter/interpreter.h"

namespace sk::api {

// Returns how long a request waits for an execution. It exceeds the longest possible execution under these
// settings, including queueing, waking the session and keeping its files.
std::chrono::seconds await_limit(const DialectSettings& settings);
// Returns the deadline of a wait that begins now.
TimeUs await_deadline_us(const App& app);
// The error of a request whose deadline has passed, and the 504 reply that carries it in the dialect's shape.
Error overdue_error();
http::Reply overdue_reply(const http::Request& request);

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
http::Reply await(const Call& call, const interpreter::RunningExecution& running, Awaited wanted);

}  // namespace sk::api
