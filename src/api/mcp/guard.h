// Protection against DNS rebinding: web pages that reach a server on the visitor's own machine through the
// browser. Any thread.
#pragma once

#include "api/app.h"
#include "http/message.h"

namespace sk::api::mcp {

// Error(forbidden) for a foreign Host when the server only listens on this machine. Error(forbidden) for an
// Origin that is not this server, not this machine, and not in cors_origins.
void check_host_and_origin(const App& app, const http::Request& request);

}  // namespace sk::api::mcp
