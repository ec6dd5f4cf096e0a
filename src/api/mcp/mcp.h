// The Model Context Protocol at /mcp, for agents, and at /azure/mcp with the tools of Azure's session pools.
#pragma once

#include "api/common/routes.h"

namespace sk::api::mcp {

void add_routes(Routes& routes, App& app);

// Formats errors that occur outside of handlers as JSON-RPC.
http::Reply write_error(const http::Request& request, const Error& error);

}  // namespace sk::api::mcp
