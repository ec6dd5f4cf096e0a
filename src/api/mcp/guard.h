// Who may talk to this endpoint at all: guards against web pages that reach a server on the visitor's own
// machine through their browser (DNS rebinding).
#pragma once

#include "api/app.h"
#include "http/message.h"

namespace sk::api::mcp {

// Error(forbidden) for a Host that is not this server's, where it listens on this machine only, and for an
// Origin that is neither this server's own, nor this machine, nor in cors_origins.
void check_host_and_origin(const App& app, const http::Request& request);

}  // namespace sk::api::mcp
