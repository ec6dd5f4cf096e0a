// Reads and writes the rows of conversations and messages; private to this room.
#pragma once

#include "catalog/database.h"
#include "conversations/conversations.h"
#include "workspace/usage.h"

namespace sk::conversations {

// Columns of a Conversation for read_conversation(), for a table alias `c`.
#define SK_CONVERSATION_COLUMNS                                      \
  "c.id, c.workspace, c.name, c.title, c.created_us, c.changed_us, " \
  "(SELECT COUNT(*) FROM messages m WHERE m.conversation = c.id)"
Conversation read_conversation(const catalog::Row& row);

// Columns of a Message for read_message(), for `m` (messages) and `c` (its conversation); without its files.
#define SK_MESSAGE_COLUMNS \
  "m.id, m.conversation, c.name, m.name, m.role, m.time_us, m.stored_us, m.author, m.text, m.detail"
Message read_message(const catalog::Row& row);
// Returns the text of the `detail` column for read_message().
std::string message_detail(const Message& message);

std::vector<ShownFile> read_shown_files(catalog::Statements& statements, const Id& message);

// Returns the key of a file in a remote container: its id, or its path if the link has no id. The newest copy
// of a path is the best match. Empty if the file has neither.
std::string origin_of(const ShownFile& file);
// Returns the version that the workspace's most recent message stores for that origin.
std::optional<Id> kept_from_origin(catalog::Statements& statements, const Id& workspace,
                                   const std::string& origin);

// `node` is the one that fetches those that are pending.
void write_shown_files(catalog::Tx& tx, const Id& node, const Id& workspace, const Id& message,
                       const std::vector<ShownFile>& files);
void update_shown_file(catalog::Tx& tx, const Id& message, const ShownFile& file);

// Return the bytes by which a message, or a conversation with its messages, adds to the usage of its
// workspace. Zero for rows that do not exist.
workspace::Amount size_of_message(catalog::Statements& statements, const Id& message);
workspace::Amount size_of_conversation(catalog::Statements& statements, const Id& conversation);

}  // namespace sk::conversations
