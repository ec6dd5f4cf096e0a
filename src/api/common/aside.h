// Replies that take long to produce. The work runs on a background thread; the waiting connection uses no
// thread.
#pragma once

#include <atomic>
#include <functional>

#include "api/common/call.h"
#include "base/json.h"
#include "http/message.h"

namespace sk::api {

// Produces the reply. `cancelled` becomes true when no client waits for the reply any more. An exception
// becomes an error reply in the shape of the request's dialect. Runs after the Call is destroyed.
using Chore = std::function<http::Reply(const std::atomic<bool>& cancelled)>;

// The kind of work. A `chore` is server maintenance and its queue is short. A `transfer` processes the bytes
// of one request.
enum class Aside { chore, transfer };

// Runs `chore` in the background and returns a deferred reply. Error(unavailable) when too many chores wait.
http::Reply run_aside(Call& call, Aside kind, Chore chore);

}  // namespace sk::api
