// The method table: every method of both eras and its function. Any thread.
#pragma once

#include <optional>

#include "api/mcp/turn.h"

namespace sk::api::mcp {

// Returns the result, or nullopt when the turn's channel will answer. Throws RpcError and Error.
std::optional<Json> dispatch(Turn& turn);

// Handles notifications/cancelled and other notifications of a legacy session. Ignores unknown ones.
void notified(Turn& turn);

// Handles initialize: creates the session, unless the server has none, and returns the agreed parameters.
Json initialize(Turn& turn);

}  // namespace sk::api::mcp
