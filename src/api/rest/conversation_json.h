// Serializes conversations and messages as JSON of Sandkeep's own API, with permanent links and with Markdown
// and HTML ready to display. Any thread.
#pragma once

#include "api/common/call.h"
#include "conversations/conversations.h"

namespace sk::api::rest {

// Whether links require a key, or open for everybody who has them.
enum class LinkStyle { needs_key, is_signed };

// The inputs for message_json(); usable after the Call is destroyed.
struct MessageView {
  App& app;
  workspace::Actor actor;
  std::string base_url;
  LinkStyle style = LinkStyle::needs_key;
};

Json conversation_json(const conversations::Conversation& conversation);
Json message_json(const MessageView& view, const conversations::Message& message);

}  // namespace sk::api::rest
