// Waiting for an execution on behalf of a request. No thread waits; when the client leaves, the execution
// goes on.
#pragma once

#include <functional>
#include <optional>

#include "api/common/call.h"
#include "base/error.h"
#include "http/message.h"
#include "interpreter/interpreter.h"

namespace sk::api {

// How long a request waits for an execution: longer than any may take under these settings, with its time in
// the queue, its waking and its keeping.
std::chrono::seconds await_limit(const Settings& settings);
// The deadline of a wait that begins now.
TimeUs await_deadline_us(const App& app);
// The error of a request whose deadline has passed, and the reply that carries it in the dialect's shape.
Error overdue_error();
http::Reply overdue_reply(const http::Request& request);

struct Awaited {
  std::function<http::Reply(const interpreter::Execution&)> answer;
  // Runs when the client did not get the answer: it left, or the deadline has passed.
  std::function<void()> on_unanswered = [] {};
  // Makes the reply of an event that comes before the end; nullopt for events that are no reason to reply.
  std::function<std::optional<http::Reply>(const interpreter::ExecutionEvent&)> by_event = {};
  int64_t after = 0;  // the last event that by_event is not asked about
};

// The reply comes with the end of the execution, with an event, or at the deadline, whichever is first.
http::Reply await(const Call& call, const interpreter::RunningExecution& running, Awaited wanted);

}  // namespace sk::api
