// Checks that the protocol of 2026-07-28 requires for every request: its version, its capabilities, and
// headers that match its body. Any thread.
#pragma once

#include "api/mcp/turn.h"

namespace sk::api::mcp {

// Returns whether a request is of that era, by its header or its _meta.
bool is_modern(const http::Headers& headers, const RpcMessage& message);

// Sets the turn's capabilities. Throws RpcError with HTTP 400 for a request that violates the protocol.
void check_modern(Turn& turn);

}  // namespace sk::api::mcp
