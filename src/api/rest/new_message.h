// What a client sends as a message, on its way into the domain; for one message and for many.
#pragma once

#include <optional>

#include "api/common/call.h"
#include "bridge/source.h"
#include "conversations/conversations.h"

namespace sk::api::rest {

// The fields of a message's body.
Fields message_fields();
Field source_field();

// nullopt without a source.
std::optional<bridge::Source> source_from(const App& app, const Body& body);

// The domain's form of a body that has message_fields(). Exactly one of text, response and events may be
// there. With a source, what is not ours will be fetched.
conversations::NewMessage new_message_from(const Body& body, std::string conversation, std::string name,
                                           const std::optional<bridge::Source>& source);

// Our own sessions by "s_…" and "cntr_…", and folders that were named instead of one.
conversations::FindPlace find_place_in(App& app, const Id& workspace);

}  // namespace sk::api::rest
