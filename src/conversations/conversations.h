// Conversations: the messages of a user's app, each mapped to the file versions that it shows. The mapping is
// made when a message is stored. It stays valid after session expiry, overwrite, rename, trash and restart. A
// retention policy must keep versions that a message shows.
//
// States of a mentioned file:
//   kept          a version of this server
//   missing       a link to a file that did not exist when the message was made
//   not_captured  a file that could not be fetched: gone, denied, cannot_tell
//   pending       being fetched from elsewhere (bridge)
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conversations/transcript.h"
#include "workspace/files.h"
#include "workspace/keep_context.h"
#include "workspace/types.h"
#include "workspace/workspaces.h"

namespace sk::conversations {

using workspace::Actor;
using workspace::Authority;
using workspace::Files;
using workspace::KeepContext;
using workspace::Page;
using workspace::Right;
using workspace::Version;
using workspace::Workspaces;

enum class ShownState { kept, pending, missing, not_captured };
std::string_view name_of(ShownState state);

// The reason why a file is not captured.
enum class WhyNot { none, gone, denied, cannot_tell };
std::string_view name_of(WhyNot why);

// A file that a message shows or mentions.
struct ShownFile {
  int64_t seq = 0;
  Mention::Kind kind = Mention::Kind::link;
  std::string name;                 // as named in the message
  std::string container, file_id;   // origin, from the message or from matching
  std::optional<SandboxLink> link;  // in the message's text
  ShownState state = ShownState::missing;
  WhyNot why = WhyNot::none;
  std::string explanation;  // a sentence for users; empty when kept
  Id version, file;         // set when kept
  std::string address;      // web address to fetch it from; never stored, since it may be signed
};

struct Conversation {
  Id id;
  Id workspace;
  std::string name;  // as named by the app
  std::string title;
  TimeUs created_us = 0, changed_us = 0;
  int64_t message_count = 0;
};

struct Message {
  Id id;
  Id conversation;
  std::string conversation_name;
  std::string name;  // as named by the app
  std::string role;
  TimeUs time_us = 0;    // creation time; links refer to files as of this time
  TimeUs order_us = 0;   // position in the conversation
  TimeUs stored_us = 0;  // last full store, by the server's clock; increases with each one
  Id author;             // the principal that stored it
  std::string text;      // as sent by the app
  std::string response_id, model;
  std::vector<ShownFile> files;
};

// The location of a session's /mnt/data.
struct SessionFolder {
  Id workspace;
  std::string folder;
};
// Returns nullopt for a container that is not a session of this server or not the caller's.
using FindPlace = std::function<std::optional<SessionFolder>(const std::string& container)>;
// Prefix of a container name that stands for a folder of the conversation's workspace instead of a session.
inline constexpr std::string_view kFolderContainer = "folder:";

struct NewMessage {
  std::string conversation, name;
  std::string title;  // of the conversation; empty: unchanged
  std::string role;   // empty: the transcript's role, else "user"
  Transcript transcript;
  std::optional<TimeUs> time_us;
  std::string container;           // the session or container of links that name none
  bool container_lasts = true;     // later messages use it too; false: only if the conversation has none yet
  std::vector<std::string> files;  // versions or paths of further files that the message shows
  bool adds_files = false;         // only adds files to an existing message; everything else is unchanged
  bool has_source = false;         // files from elsewhere will be fetched
};

// A shown file as a given actor may see it now.
struct ViewedFile {
  ShownFile shown;
  std::optional<Version> version;  // unset unless kept, not purged and readable by the actor
};

// The result of fetching a file.
struct Captured {
  ShownState state = ShownState::not_captured;
  WhyNot why = WhyNot::cannot_tell;
  std::string explanation;
  std::optional<Version> version;
};

struct ConversationFilter {
  std::optional<Id> file, version;  // only conversations that show it
};

// Any thread. Calls require the right to read, or to write if they change something.
class Conversations {
 public:
  Conversations(KeepContext& context, Files& files, Workspaces& workspaces)
      : context_(context), files_(files), workspaces_(workspaces) {}

  // Stores a message, or replaces it under its name; files already kept for it stay kept. Images in the text
  // become files in the conversation's folder. Error(bad_request) for an invalid name, Error(too_large) above
  // a limit.
  Message put(const Authority& authority, NewMessage wanted, const FindPlace& find_place);
  // Sets the final state of a pending file of a message that put() returned. Returns false and changes
  // nothing if the message was stored again meanwhile, since `seq` may then be another file.
  bool settle(const Authority& authority, const Message& message, int64_t seq, const Captured& captured);
  // Marks files as not captured that were pending when the server ended; their keys are not stored. Called at
  // start.
  void give_up_pending();

  std::optional<Conversation> find(const Authority& authority, std::string_view name);
  std::optional<Message> find_message(const Authority& authority, std::string_view conversation,
                                      std::string_view name);
  // Ordered by the time given with each message, oldest first. A message without a time comes after all that
  // were stored before it.
  Page<Message> messages(const Authority& authority, const Conversation& conversation,
                         std::string_view cursor, size_t limit);
  // Most recently changed first.
  Page<Conversation> list(const Authority& authority, const ConversationFilter& filter,
                          std::string_view cursor, size_t limit);
  // Deletes the conversation or message, but not its files. Error(not_found).
  void remove(const Authority& authority, std::string_view conversation);
  void remove_message(const Authority& authority, std::string_view conversation, std::string_view name);

  // Returns the message's files as `actor` may see them now. Purged and unreadable files are marked as not
  // captured, with the reason.
  std::vector<ViewedFile> view(const Actor& actor, const Message& message);

  // Whether a message shows the version. A retention policy must not delete such a version.
  static bool is_shown(catalog::Statements& statements, const Id& version);

  // Returns "conversations/<name>", the folder for files that come with its messages.
  static std::string folder_of(std::string_view conversation);

 private:
  KeepContext& context_;
  Files& files_;
  Workspaces& workspaces_;
};

// For KeepContext::on_workspace_purge: deletes about `rows_max` rows of the conversations of a workspace.
// Returns how many; 0: none is left.
size_t purge_conversation_rows(catalog::Tx& tx, const Id& workspace, size_t rows_max);

}  // namespace sk::conversations
