// Converts the body of a message to the domain's form, for one message and for many. Any thread.
#pragma once

#include <optional>

#include "api/common/call.h"
#include "bridge/source.h"
#include "conversations/conversations.h"

namespace sk::api::rest {

// The fields of a message's body.
Fields message_fields();
Field source_field();

// Returns nullopt when the body has no source.
std::optional<bridge::RemoteSource> source_from(const App& app, const Body& body);

// Converts a body that has message_fields(). Accepts at most one of text, response and events. With a source,
// files that are not stored here are fetched.
conversations::NewMessage new_message_from(const Body& body, std::string conversation, std::string name,
                                           const std::optional<bridge::RemoteSource>& source);

// Finds Sandkeep's own sessions by "s_…" and "cntr_…", and folders that were given in place of a session.
conversations::FindPlace find_place_in(App& app, const Id& workspace);

}  // namespace sk::api::rest
