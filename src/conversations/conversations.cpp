#include "conversations/conversations.h"

#include <algorithm>

#include "base/error.h"
#include "base/path.h"
#include "conversations/conversation_match.h"
#include "conversations/conversation_rows.h"
#include "workspace/file_at.h"
#include "workspace/intake.h"
#include "workspace/journal.h"
#include "workspace/usage.h"

namespace sk::conversations {

using workspace::Journal;

namespace {

constexpr size_t kOwnNameBytesMax = 200;  // so that "<message>-image-1.png" is also a valid name
constexpr size_t kRoleBytesMax = 64;
constexpr size_t kOwnTitleBytesMax = 1024;

// Names of conversations and messages are parts of file paths and URLs.
void check_name(std::string_view name, std::string_view what) {
  bool fits =
      !name.empty() && name.size() <= kOwnNameBytesMax && is_utf8(name) && name != "." && name != "..";
  for (char c : name) fits = fits && static_cast<unsigned char>(c) >= ' ' && c != '/' && c != 0x7f;
  if (fits) return;
  throw Error(Code::bad_request, "the name of a " + std::string(what) +
                                     " has 1 to 200 bytes of UTF-8, without '/' and control characters")
      .with("field", std::string(what));
}

void check_text(std::string_view text, size_t bytes_max, std::string_view what) {
  if (text.size() > bytes_max)
    throw Error(Code::too_large,
                std::string(what) + " may have at most " + std::to_string(bytes_max) + " bytes");
  if (!is_utf8(text)) throw Error(Code::bad_request, std::string(what) + " must be UTF-8");
}

// Images in the text become files, so they do not count as text.
void check_message_text(const Transcript& transcript, size_t bytes_max) {
  size_t image_bytes = 0;
  for (const auto& mention : transcript.mentions)
    if (mention.link && !mention.data_uri.empty()) image_bytes += mention.link->end - mention.link->start;
  check_text(transcript.text, bytes_max + image_bytes, "a message's text");
}

// Clients truncate times to seconds, so include everything that happened within that second.
TimeUs end_of_second(TimeUs time_us) { return time_us % kSecondUs == 0 ? time_us + kSecondUs - 1 : time_us; }

struct Known {
  Id conversation;
  std::string container;
  std::optional<Message> message;
};

Known known_of(catalog::Statements& statements, const Id& workspace, std::string_view conversation,
               std::string_view name) {
  Known known;
  statements.query("SELECT id, container FROM conversations WHERE workspace = $1 AND name = $2",
                   {workspace, conversation}, [&](const catalog::Row& row) {
                     known.conversation = row.id(0);
                     known.container = row.str(1);
                     return false;
                   });
  if (!known.conversation) return known;
  known.message = statements.one("SELECT " SK_MESSAGE_COLUMNS
                                 " FROM messages m JOIN conversations c ON c.id = m.conversation "
                                 "WHERE m.conversation = $1 AND m.name = $2",
                                 {known.conversation, name}, read_message);
  if (known.message) known.message->files = read_shown_files(statements, known.message->id);
  return known;
}

Json counts_of(const std::vector<ShownFile>& files) {
  Json counts = {{"kept", 0}, {"pending", 0}, {"missing", 0}, {"not_captured", 0}};
  for (const auto& file : files) {
    auto& count = counts[std::string(name_of(file.state))];
    count = count.get<int>() + 1;
  }
  return counts;
}

// Returns the container for later messages of the conversation that name none.
std::string lasting_container(const NewMessage& wanted, const std::string& earlier) {
  if (!wanted.container.empty() && (wanted.container_lasts || earlier.empty())) return wanted.container;
  if (!wanted.transcript.containers.empty()) return wanted.transcript.containers.back();
  return earlier;
}

void check_file_count(size_t count, size_t most) {
  if (count > most)
    throw Error(Code::too_large, "a message may show at most " + std::to_string(most) + " files");
}

// Skips files that the message already shows.
void add_files(Message& message, std::vector<ShownFile> files) {
  for (auto& file : files) {
    bool is_there = std::any_of(message.files.begin(), message.files.end(),
                                [&](const ShownFile& other) { return other.version == file.version; });
    file.seq = static_cast<int64_t>(message.files.size());
    if (!is_there) message.files.push_back(std::move(file));
  }
}

// An answer may be complete before its question is stored, but must come after it.
TimeUs place_in_order(catalog::Statements& statements, const Id& conversation, TimeUs time_us) {
  auto last = statements.one(
      "SELECT time_us FROM messages WHERE conversation = $1 ORDER BY time_us DESC, id DESC LIMIT 1",
      {conversation}, [](const catalog::Row& row) { return row.integer(0); });
  return last ? std::max(time_us, *last + 1) : time_us;
}

// Sets the ids, the store time and the position of the message.
void place_message(catalog::Tx& tx, KeepContext& context, const NewMessage& wanted, const Known& known,
                   Message& message) {
  message.stored_us = tx.now_us();
  message.conversation = known.conversation ? known.conversation : context.ids.next();
  message.id = known.message ? known.message->id : context.ids.next();
  if (known.message) message.stored_us = std::max(message.stored_us, known.message->stored_us + 1);
  message.order_us = wanted.time_us  ? *wanted.time_us
                     : known.message ? known.message->order_us
                                     : place_in_order(tx, message.conversation, message.time_us);
}

// Counts for the workspace by how much a message and its conversation grow until settle().
class MessageGrowth {
 public:
  MessageGrowth(catalog::Tx& tx, const Id& workspace, const Id& conversation, const Id& message)
      : tx_(tx), workspace_(workspace), conversation_(conversation), message_(message), before_(now()) {}
  // Returns the number of bytes by which they have grown; negative if they shrank.
  int64_t settle() {
    workspace::Amount after = now();
    workspace::Amount grown{after.bytes - before_.bytes, after.count - before_.count};
    workspace::count_records(tx_, workspace_, workspace::RecordKind::message, grown);
    return grown.bytes;
  }

 private:
  workspace::Amount now() {
    auto message = size_of_message(tx_, message_);
    return {message.bytes + size_of_conversation(tx_, conversation_).bytes, message.count};
  }

  catalog::Tx& tx_;
  const Id workspace_, conversation_, message_;
  const workspace::Amount before_;
};

// Returns the message with its ids, its position and all its files.
Message write_message(catalog::Tx& tx, KeepContext& context, const Authority& authority,
                      const NewMessage& wanted, Message message) {
  auto known = known_of(tx, authority.workspace_id(), wanted.conversation, wanted.name);
  if (wanted.adds_files && known.message) {
    auto files = std::move(message.files);
    message = *known.message;
    add_files(message, std::move(files));
    check_file_count(message.files.size(), context.limits.message_files_max);
  } else {
    place_message(tx, context, wanted, known, message);
  }
  auto container = lasting_container(wanted, known.container);
  MessageGrowth growth(tx, authority.workspace_id(), message.conversation, message.id);
  tx.exec(
      "INSERT INTO conversations (id, workspace, name, title, container, created_us, changed_us) "
      "VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT (id) DO UPDATE SET "
      "title = CASE WHEN $4 = '' THEN conversations.title ELSE $4 END, container = $5, changed_us = $6",
      {message.conversation, authority.workspace_id(), wanted.conversation, wanted.title, container,
       tx.now_us()});
  tx.exec(
      "INSERT INTO messages (id, conversation, name, role, time_us, stored_us, author, text, detail) "
      "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO UPDATE SET role = $4, time_us = $5, "
      "stored_us = $6, author = $7, text = $8, detail = $9",
      {message.id, message.conversation, message.name, message.role, message.order_us, message.stored_us,
       message.author, message.text, message_detail(message)});
  write_shown_files(tx, context.node, authority.workspace_id(), message.id, message.files);
  int64_t grown = growth.settle();
  workspace::check_room_for_records(tx, context, authority.workspace_id(),
                                    static_cast<uint64_t>(std::max<int64_t>(0, grown)));
  Journal::append(tx, context, authority.workspace_id(), authority.author(), "conversation.message",
                  counts_of(message.files),
                  {{"conversation", wanted.conversation}, {"message", wanted.name}});
  return message;
}

// If the fetch failed but an earlier message has a copy, uses that copy. A container that no longer exists
// therefore loses nothing.
void apply_capture(catalog::Tx& tx, const Id& workspace, const Captured& captured, ShownFile& file) {
  file.state = captured.state;
  file.why = captured.state == ShownState::not_captured ? captured.why : WhyNot::none;
  file.explanation = captured.explanation;
  std::optional<Version> version = captured.version;
  if (auto earlier = version ? std::nullopt : kept_from_origin(tx, workspace, origin_of(file))) {
    version = workspace::find_version(tx, *earlier);
    if (version) file.state = ShownState::kept, file.why = WhyNot::none, file.explanation.clear();
  }
  if (!version) return;
  file.version = version->id;
  file.file = version->file;
  // A citation may have no name.
  if (file.name == file.file_id) file.name = split_path(version->path).second;
}

}  // namespace

std::string Conversations::folder_of(std::string_view conversation) {
  return join_path("conversations", conversation);
}

Message Conversations::put(const Authority& authority, NewMessage wanted, const FindPlace& find_place) {
  authority.need(Right::write);
  check_name(wanted.conversation, "conversation");
  check_name(wanted.name, "message");
  check_text(wanted.title, kOwnTitleBytesMax, "a title");
  check_text(wanted.role, kRoleBytesMax, "a role");
  check_message_text(wanted.transcript, context_.limits.message_text_bytes_max);
  check_file_count(wanted.transcript.mentions.size() + wanted.files.size(),
                   context_.limits.message_files_max);
  workspace::check_room(context_);
  auto known = context_.db.read([&](catalog::Statements& statements) {
    return known_of(statements, authority.workspace_id(), wanted.conversation, wanted.name);
  });
  const auto& transcript = wanted.transcript;
  Message message;
  message.conversation_name = wanted.conversation;
  message.name = wanted.name;
  message.role = !wanted.role.empty() ? wanted.role : !transcript.role.empty() ? transcript.role : "user";
  check_text(message.role, kRoleBytesMax, "a role");
  message.author = authority.author().principal;
  message.text = transcript.text;
  message.response_id = transcript.response_id.substr(0, kOwnNameBytesMax);
  message.model = transcript.model.substr(0, kOwnNameBytesMax);
  message.time_us = wanted.time_us            ? *wanted.time_us
                    : transcript.completed_us ? *transcript.completed_us
                    : known.message           ? known.message->time_us
                                              : context_.clock.now_us();

  if (!known.message) known.message.emplace();
  MentionMatcher matcher(context_, files_, workspaces_,
                         {.authority = authority,
                          .wanted = wanted,
                          .find_place = find_place,
                          .time_us = end_of_second(message.time_us),
                          .earlier_container = known.container,
                          .before = known.message->files});
  for (const auto& mention : transcript.mentions) message.files.push_back(matcher.match(mention));
  for (const auto& name : wanted.files) message.files.push_back(matcher.match_named(name));
  for (size_t i = 0; i < message.files.size(); ++i) message.files[i].seq = static_cast<int64_t>(i);
  return context_.db.write(authority.scope(), [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, Right::write);
    return write_message(tx, context_, authority, wanted, message);
  });
}

bool Conversations::settle(const Authority& authority, const Message& message, int64_t seq,
                           const Captured& captured) {
  authority.need(Right::write);
  return context_.db.write(authority.scope(), [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, Right::write);
    auto stored_us = tx.one("SELECT stored_us FROM messages WHERE id = $1", {message.id},
                            [](const catalog::Row& row) { return row.integer(0); });
    if (stored_us != message.stored_us) return false;
    for (auto& file : read_shown_files(tx, message.id)) {
      if (file.seq != seq || file.state != ShownState::pending) continue;
      apply_capture(tx, authority.workspace_id(), captured, file);
      MessageGrowth growth(tx, authority.workspace_id(), message.conversation, message.id);
      update_shown_file(tx, message.id, file);
      growth.settle();
      Json facts = {{"state", name_of(file.state)}, {"reason", name_of(file.why)}};
      if (file.version) facts["version_id"] = file.version.with_prefix(workspace::prefix::version);
      Journal::append(tx, context_, authority.workspace_id(), authority.author(), "conversation.capture",
                      facts, {{"name", file.name}});
      return true;
    }
    return false;
  });
}

void Conversations::give_up_pending() {
  struct Pending {
    Id message, workspace;
  };
  auto pending = context_.db.read([&](catalog::Statements& statements) {
    return statements.all(
        "SELECT DISTINCT message, workspace FROM message_files WHERE state = 'pending' AND (node = $1 OR "
        "node "
        "IS NULL)",
        {context_.node}, [](const catalog::Row& row) { return Pending{row.id(0), row.id(1)}; });
  });
  for (const auto& one : pending)
    context_.db.write(catalog::Scope::workspace(one.workspace), [&](catalog::Tx& tx) {
      MessageGrowth growth(tx, one.workspace, Id{}, one.message);
      for (auto& file : read_shown_files(tx, one.message)) {
        if (file.state != ShownState::pending) continue;
        file.state = ShownState::not_captured;
        file.why = WhyNot::cannot_tell;
        file.explanation = "the server ended while it was being fetched: store the message again";
        update_shown_file(tx, one.message, file);
      }
      growth.settle();
    });
}

std::optional<Message> Conversations::find_message(const Authority& authority, std::string_view conversation,
                                                   std::string_view name) {
  authority.need(Right::read);
  return context_.db.read([&](catalog::Statements& statements) {
    return known_of(statements, authority.workspace_id(), conversation, name).message;
  });
}

void Conversations::remove(const Authority& authority, std::string_view conversation) {
  authority.need(Right::write);
  context_.db.write(authority.scope(), [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, Right::write);
    auto known = known_of(tx, authority.workspace_id(), conversation, "");
    if (!known.conversation)
      throw Error(Code::not_found, "there is no conversation '" + std::string(conversation) + "'");
    auto held = *tx.one(
        "SELECT CAST(COALESCE(sum(bytes), 0) AS BIGINT), count(*) FROM message_sizes WHERE conversation = $1",
        {known.conversation},
        [](const catalog::Row& row) { return workspace::Amount{row.integer(0), row.integer(1)}; });
    held.bytes += size_of_conversation(tx, known.conversation).bytes;
    workspace::count_records(tx, authority.workspace_id(), workspace::RecordKind::message,
                             {-held.bytes, -held.count});
    tx.exec("DELETE FROM message_files WHERE message IN (SELECT id FROM messages WHERE conversation = $1)",
            {known.conversation});
    tx.exec("DELETE FROM messages WHERE conversation = $1", {known.conversation});
    tx.exec("DELETE FROM conversations WHERE id = $1", {known.conversation});
    Journal::append(tx, context_, authority.workspace_id(), authority.author(), "conversation.delete",
                    Json::object(), {{"conversation", conversation}});
  });
}

void Conversations::remove_message(const Authority& authority, std::string_view conversation,
                                   std::string_view name) {
  authority.need(Right::write);
  context_.db.write(authority.scope(), [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, Right::write);
    auto known = known_of(tx, authority.workspace_id(), conversation, name);
    if (!known.message)
      throw Error(Code::not_found, "the conversation has no message '" + std::string(name) + "'");
    MessageGrowth growth(tx, authority.workspace_id(), known.conversation, known.message->id);
    tx.exec("DELETE FROM message_files WHERE message = $1", {known.message->id});
    tx.exec("DELETE FROM messages WHERE id = $1", {known.message->id});
    growth.settle();
    Journal::append(tx, context_, authority.workspace_id(), authority.author(), "conversation.message_delete",
                    Json::object(), {{"conversation", conversation}, {"message", name}});
  });
}

size_t purge_conversation_rows(catalog::Tx& tx, const Id& workspace, size_t rows_max) {
  auto id = [](const catalog::Row& row) { return row.id(0); };
  size_t rows = 0;
  workspace::Amount gone;
  while (rows < rows_max) {
    auto conversation = tx.one("SELECT id FROM conversations WHERE workspace = $1 LIMIT 1", {workspace}, id);
    if (!conversation) break;
    // A message has at most message_files_max files.
    auto message = tx.one("SELECT id FROM messages WHERE conversation = $1 LIMIT 1", {*conversation}, id);
    auto size = message ? size_of_message(tx, *message) : size_of_conversation(tx, *conversation);
    if (message) {
      rows += tx.exec("DELETE FROM message_files WHERE message = $1", {*message});
      rows += tx.exec("DELETE FROM messages WHERE id = $1", {*message});
    } else {
      rows += tx.exec("DELETE FROM conversations WHERE id = $1", {*conversation});
    }
    gone.bytes += size.bytes;
    gone.count += size.count;
  }
  workspace::count_records(tx, workspace, workspace::RecordKind::message, {-gone.bytes, -gone.count});
  return rows;
}

}  // namespace sk::conversations
