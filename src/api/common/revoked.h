// Ends a reply that lasts longer than its request, once the key of the request gives no right any more.
#pragma once

#include "api/common/call.h"
#include "http/message.h"

namespace sk::api {

// For every reply of an authenticated request. One that waits for events (a long poll, a lock, a stream) ends
// at once, one that waits for work a second later: an execution of the key ends by itself then, and its
// answer says so. A reply that is complete is left alone.
void end_when_revoked(const Call& call, http::Reply& reply);

}  // namespace sk::api
