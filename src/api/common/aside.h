// Replies that take long to make: the work runs on a thread of its own, the connection waits without one.
#pragma once

#include <atomic>
#include <functional>

#include "api/common/call.h"
#include "base/json.h"
#include "http/message.h"

namespace sk::api {

// What the answer says. `cancelled` becomes true when nobody waits for it any more; what it throws is the
// answer, in the shape of the request's dialect. Runs after the Call is gone.
using Chore = std::function<http::Reply(const std::atomic<bool>& cancelled)>;

// What kind of work it is: a chore of the server's, of which few may wait (Error(unavailable) over that), or
// a transfer of the request's own bytes.
enum class Aside { chore, transfer };

http::Reply run_aside(Call& call, Aside kind, Chore chore);

}  // namespace sk::api
