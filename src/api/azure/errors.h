// Errors in the shape that clients of Azure's dynamic sessions expect.
#pragma once

#include "base/error.h"
#include "http/message.h"

namespace sk::api::azure {

// {"error":{"code","message","target"?,"innererror":{"code","hint",…facts}}} and the header x-ms-error-code.
http::Reply error_reply(const http::Request& request, const Error& error);

}  // namespace sk::api::azure
