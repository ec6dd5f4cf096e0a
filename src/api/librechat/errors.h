// Errors in the shape that LibreChat expects.
#pragma once

#include "base/error.h"
#include "http/message.h"

namespace sk::api::librechat {

// {"error": message, "details": hint, "code": …}; above a rate limit
// {"error":"rate_limited","retry_after_seconds"}.
http::Reply error_reply(const http::Request& request, const Error& error);

}  // namespace sk::api::librechat
