// Which dialect a path belongs to, for what no handler sees: the shape of errors, also of those for unknown
// paths, bad keys and malformed requests.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "http/message.h"

namespace sk::api {

// The error in the shape that the clients of this path read.
http::Reply dialect_error_reply(const http::Request& request, const Error& error);

// The part of a request that the shape of its errors depends on, for replies that outlive the request.
http::Request without_content(const http::Request& request);

// The path without the key that clients of some dialects put into it, for logs of every kind.
std::string loggable_path(std::string_view path);

}  // namespace sk::api
