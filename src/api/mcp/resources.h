// Files as the protocol's resources: listing, reading, subscribing, and completion of their URIs. Any thread.
#pragma once

#include <optional>

#include "api/mcp/turn.h"

namespace sk::api::mcp {

// resources/list, resources/templates/list, resources/read, resources/subscribe, resources/unsubscribe.
std::optional<Json> list_resources(Turn& turn);
std::optional<Json> list_templates(Turn& turn);
std::optional<Json> read_resource(Turn& turn);
std::optional<Json> subscribe_resource(Turn& turn);
std::optional<Json> unsubscribe_resource(Turn& turn);
// subscriptions/listen: the long-lived stream of the modern protocol.
std::optional<Json> listen(Turn& turn);
// completion/complete.
std::optional<Json> complete(Turn& turn);

// Returns the watch that notifies the client of a legacy session, created on first need. Null when the
// session has ended meanwhile.
std::shared_ptr<ResourceWatch> start_watch(Turn& turn);

}  // namespace sk::api::mcp
