// Which dialect a path belongs to, for what no handler sees: the shape of errors, also of those for unknown
// paths, bad keys and malformed requests.
#pragma once

#include "base/error.h"
#include "http/message.h"

namespace sk::api {

// The error in the shape that the clients of this path read.
http::Reply dialect_error_reply(const http::Request& request, const Error& error);

}  // namespace sk::api
