// Conversations and messages as the JSON of our own API: with links that work, Markdown and HTML ready to
// show.
#pragma once

#include "api/common/call.h"
#include "conversations/conversations.h"

namespace sk::api::rest {

// How the links of a message open: with a key, or for whoever has them.
enum class LinkStyle { needs_key, is_signed };

// What it takes to write a message down, also after the Call is gone.
struct MessageView {
  App& app;
  workspace::Actor actor;
  std::string base_url;
  LinkStyle style = LinkStyle::needs_key;
};

Json conversation_json(const conversations::Conversation& conversation);
Json message_json(const MessageView& view, const conversations::Message& message);

}  // namespace sk::api::rest
