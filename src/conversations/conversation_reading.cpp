// Lists conversations and messages, and determines which of their files an actor may see.
#include "base/error.h"
#include "conversations/conversation_rows.h"
#include "conversations/conversations.h"

namespace sk::conversations {

namespace {

constexpr size_t kPageBytesMax = 2 << 20;  // of text per page; pages of long messages have fewer items

std::string cursor_of(TimeUs time_us, const Id& id) { return std::to_string(time_us) + "-" + id.hex(); }

struct After {
  TimeUs time_us;
  Id id;
};

After parse_cursor(std::string_view cursor) {
  auto dash = cursor.find('-');
  auto time = parse_unsigned(cursor.substr(0, dash));
  auto id = dash == std::string_view::npos ? std::nullopt : Id::from_hex(cursor.substr(dash + 1));
  if (!time || *time > (1ull << 62) || !id)
    throw Error(Code::bad_request, "the cursor is not valid").advise(Advice::begin_without_cursor);
  return {static_cast<TimeUs>(*time), *id};
}

void cut(Page<Conversation>& page, size_t limit) {
  if (page.items.size() <= limit) return;
  page.items.resize(limit);
  page.has_more = true;
  page.next_cursor = cursor_of(page.items.back().changed_us, page.items.back().id);
}

}  // namespace

std::optional<Conversation> Conversations::find(const Authority& authority, std::string_view name) {
  authority.need(Right::read);
  return context_.db.read([&](catalog::Statements& statements) {
    return statements.one("SELECT " SK_CONVERSATION_COLUMNS
                          " FROM conversations c WHERE c.workspace = $1 AND c.name = $2",
                          {authority.workspace_id(), name}, read_conversation);
  });
}

Page<Message> Conversations::messages(const Authority& authority, const Conversation& conversation,
                                      std::string_view cursor, size_t limit) {
  authority.need(Right::read);
  After after = cursor.empty() ? After{-1, Id{}} : parse_cursor(cursor);
  SK_CHECK(conversation.workspace == authority.workspace_id());
  return context_.db.read([&](catalog::Statements& statements) {
    Page<Message> page;
    size_t bytes = 0;
    statements.query(
        "SELECT " SK_MESSAGE_COLUMNS
        " FROM messages m JOIN conversations c ON c.id = m.conversation WHERE m.conversation = $1 AND "
        "(m.time_us > $2 OR (m.time_us = $2 AND m.id > $3)) ORDER BY m.time_us, m.id",
        {conversation.id, after.time_us, after.id}, [&](const catalog::Row& row) {
          page.has_more = page.items.size() >= limit || bytes >= kPageBytesMax;
          if (page.has_more) return false;
          page.items.push_back(read_message(row));
          bytes += page.items.back().text.size();
          return true;
        });
    if (page.has_more) page.next_cursor = cursor_of(page.items.back().order_us, page.items.back().id);
    for (auto& message : page.items) message.files = read_shown_files(statements, message.id);
    return page;
  });
}

Page<Conversation> Conversations::list(const Authority& authority, const ConversationFilter& filter,
                                       std::string_view cursor, size_t limit) {
  authority.need(Right::read);
  After after = cursor.empty() ? After{INT64_MAX, Id{}} : parse_cursor(cursor);
  return context_.db.read([&](catalog::Statements& statements) {
    Page<Conversation> page;
    if (filter.file || filter.version) {
      page.items = statements.all(
          "SELECT " SK_CONVERSATION_COLUMNS
          " FROM conversations c WHERE c.workspace = $1 AND "
          "(c.changed_us < $2 OR (c.changed_us = $2 AND c.id < $3)) AND c.id IN "
          "(SELECT x.conversation FROM message_files f JOIN messages x ON x.id = f.message "
          "WHERE f.version = $4 OR f.file = $5) ORDER BY c.changed_us DESC, c.id DESC LIMIT $6",
          {authority.workspace_id(), after.time_us, after.id, filter.version, filter.file, limit + 1},
          read_conversation);
    } else {
      page.items = statements.all(
          "SELECT " SK_CONVERSATION_COLUMNS
          " FROM conversations c WHERE c.workspace = $1 AND (c.changed_us < $2 OR (c.changed_us = $2 AND "
          "c.id < $3)) ORDER BY c.changed_us DESC, c.id DESC LIMIT $4",
          {authority.workspace_id(), after.time_us, after.id, limit + 1}, read_conversation);
    }
    cut(page, limit);
    return page;
  });
}

std::vector<ViewedFile> Conversations::view(const Actor& actor, const Message& message) {
  std::vector<ViewedFile> out;
  std::map<Id, bool> readable;
  for (const auto& shown : message.files) {
    ViewedFile viewed{shown, std::nullopt};
    if (shown.state == ShownState::kept) {
      auto lose = [&](WhyNot why, std::string explanation) {
        viewed.shown.state = ShownState::not_captured;
        viewed.shown.why = why;
        viewed.shown.explanation = std::move(explanation);
      };
      try {
        viewed.version = files_.find_version_anywhere(shown.version);
        if (!viewed.version) lose(WhyNot::gone, "the file is gone");
      } catch (const Error& error) {
        if (error.code() != Code::gone) throw;
        lose(WhyNot::gone, error.message());
      }
      if (viewed.version) {
        auto known = readable.find(viewed.version->workspace);
        if (known == readable.end())
          known =
              readable
                  .emplace(viewed.version->workspace, workspaces_.may_read(actor, viewed.version->workspace))
                  .first;
        if (!known->second) {
          viewed.version.reset();
          lose(WhyNot::denied, "it is in a workspace that this key may not read");
        }
      }
    }
    out.push_back(std::move(viewed));
  }
  return out;
}

bool Conversations::is_shown(catalog::Statements& statements, const Id& version) {
  return statements.query("SELECT 1 FROM message_files WHERE version = $1", {version},
                          [](const catalog::Row&) { return false; }) > 0;
}

}  // namespace sk::conversations
