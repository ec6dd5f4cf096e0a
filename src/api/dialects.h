// Maps a path to its dialect, for work that happens outside handlers. This gives every error the shape of its
// dialect, including errors for unknown paths, bad keys and malformed requests. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "http/message.h"

namespace sk::api {

// Returns the error in the shape that clients of this path expect.
http::Reply dialect_error_reply(const http::Request& request, const Error& error);

// Copies the part of a request that determines the shape of its errors, for replies that outlive the request.
http::Request without_content(const http::Request& request);

// Replaces the key that clients of some dialects put into the path, so that no log contains it. Paths that no
// route serves, such as "//librechat/KEY" and "/%6Cibrechat%2FKEY", are those of clients that are wrongly
// configured, and hold keys too.
std::string loggable_path(std::string_view path);

}  // namespace sk::api
