// What the protocol of 2026-07-28 asks of every request: its version, its capabilities, and headers that say
// the same as its body.
#pragma once

#include "api/mcp/turn.h"

namespace sk::api::mcp {

// Whether a request is of that era: by its header, or by what its _meta says.
bool is_modern(const http::Headers& headers, const Message& message);

// Throws RpcError with HTTP 400 for a request that is not as it must be; sets the turn's capabilities.
void check_modern(Turn& turn);

}  // namespace sk::api::mcp
