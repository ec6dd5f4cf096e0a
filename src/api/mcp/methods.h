// What can be asked: every method of both eras, and the function behind it.
#pragma once

#include <optional>

#include "api/mcp/turn.h"

namespace sk::api::mcp {

// The result, or nullopt when the turn's channel will answer. Throws RpcError and Error.
std::optional<Json> dispatch(Turn& turn);

// notifications/cancelled and the like, of a legacy session; what is unknown is ignored.
void notified(Turn& turn);

// initialize: makes the session, unless the server has none, and answers what was agreed on.
Json initialize(Turn& turn);

}  // namespace sk::api::mcp
