// Our own dialect's errors.
#pragma once

#include "base/error.h"
#include "http/message.h"

namespace sk::api::rest {

// {"error":{"code","message","hint","advice"?,"request_id",…facts}}. `advice` names the Advice that `hint`
// words, for clients that have words of their own; it is missing where the hint is about this request only.
http::Reply error_reply(const http::Request& request, const Error& error);

}  // namespace sk::api::rest
