// How conversations and messages are read from and written to their rows; private to this room.
#pragma once

#include "catalog/database.h"
#include "conversations/conversations.h"

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
// What read_message() finds in `detail`.
std::string message_detail(const Message& message);

std::vector<ShownFile> read_shown_files(catalog::Statements& statements, const Id& message);

// What identifies a file of a container elsewhere: its id; for a link without one its path, where the latest
// that was kept is the best that is known. Empty where nothing does.
std::string origin_of(const ShownFile& file);
// The version that some message of the workspace keeps of that file, the latest first.
std::optional<Id> kept_from_origin(catalog::Statements& statements, const Id& workspace,
                                   const std::string& origin);

void write_shown_files(catalog::Tx& tx, const Id& workspace, const Id& message,
                       const std::vector<ShownFile>& files);
void update_shown_file(catalog::Tx& tx, const Id& message, const ShownFile& file);

}  // namespace sk::conversations
