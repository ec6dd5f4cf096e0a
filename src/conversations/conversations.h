// Conversations: the messages of a user's app, each mapped to the versions of files that it shows. The
// mapping is made once, when a message is stored, and then holds: through expiry of the session, overwrite,
// rename, trash and restart. Versions that a message shows are never thinned out.
//
// What a message speaks of ends in one of these states:
//   kept          a version of ours
//   missing       a link to a file that was not there when the message was made
//   not_captured  a file that could not be had: gone, denied, cannot_tell
//   pending       it is being fetched from elsewhere (bridge)
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conversations/transcript.h"
#include "workspace/files.h"
#include "workspace/ground.h"
#include "workspace/types.h"
#include "workspace/workspaces.h"

namespace sk::conversations {

using workspace::Actor;
using workspace::Authority;
using workspace::Files;
using workspace::Ground;
using workspace::Page;
using workspace::Right;
using workspace::Version;
using workspace::Workspaces;

enum class ShownState { kept, pending, missing, not_captured };
std::string_view name_of(ShownState state);

// Why a file is not captured.
enum class WhyNot { none, gone, denied, cannot_tell };
std::string_view name_of(WhyNot why);

// A file that a message shows, or would.
struct ShownFile {
  int64_t seq = 0;
  Mention::Kind kind = Mention::Kind::link;
  std::string name;                 // as the message calls it
  std::string container, file_id;   // where it comes from, as the message says or as was found out
  std::optional<SandboxLink> link;  // in the message's text
  ShownState state = ShownState::missing;
  WhyNot why = WhyNot::none;
  std::string explanation;  // a sentence for people; empty when kept
  Id version, file;         // when kept
  std::string address;      // on the web, where it is fetched from; never stored, since it may be signed
};

struct Conversation {
  Id id;
  Id workspace;
  std::string name;  // as the app calls it
  std::string title;
  TimeUs created_us = 0, changed_us = 0;
  int64_t message_count = 0;
};

struct Message {
  Id id;
  Id conversation;
  std::string conversation_name;
  std::string name;  // as the app calls it
  std::string role;
  TimeUs time_us = 0;    // when it was made: links mean files as they were then
  TimeUs order_us = 0;   // where it stands among the others
  TimeUs stored_us = 0;  // by our clock, last; never twice the same, so that it tells storings apart
  Id author;             // who stored it
  std::string text;      // as the app sent it
  std::string response_id, model;
  std::vector<ShownFile> files;
};

// Where a session's /mnt/data lies.
struct Place {
  Id workspace;
  std::string folder;
};
// nullopt for what is not one of our own sessions, or not the caller's.
using FindPlace = std::function<std::optional<Place>(const std::string& container)>;
// Stands before a folder of the conversation's workspace that is named instead of a session.
inline constexpr std::string_view kFolderContainer = "folder:";

struct NewMessage {
  std::string conversation, name;
  std::string title;  // of the conversation; empty leaves it
  std::string role;   // empty: the transcript's, else "user"
  Transcript transcript;
  std::optional<TimeUs> time_us;
  std::string container;           // the session or container that links without one belong to
  bool container_lasts = true;     // later messages mean it, too; else only where none is known yet
  std::vector<std::string> files;  // versions or paths that the message shows beside its text
  bool adds_files = false;         // to a message that is there: all else of it stays as it is
  bool has_source = false;         // what is not ours will be fetched
};

// A shown file as somebody may see it now.
struct ViewedFile {
  ShownFile shown;
  std::optional<Version> version;  // absent unless kept, not purged, and readable by whoever asks
};

// What became of a file that was fetched.
struct Captured {
  ShownState state = ShownState::not_captured;
  WhyNot why = WhyNot::cannot_tell;
  std::string explanation;
  std::optional<Version> version;
};

struct ConversationFilter {
  std::optional<Id> file, version;  // only those that show it
};

// Any thread. Needs the right to read, or to write where something changes.
class Conversations {
 public:
  Conversations(Ground& ground, Files& files, Workspaces& workspaces)
      : ground_(ground), files_(files), workspaces_(workspaces) {}

  // Stores a message, or stores it anew under its name: what was kept for it stays kept. Images inside it
  // become files in the conversation's folder. Error(bad_request) for names that cannot be one,
  // Error(too_large) over a limit.
  Message put(const Authority& authority, NewMessage wanted, const FindPlace& find_place);
  // Ends the waiting of one file of a message as put() gave it. False, and nothing happens, when the message
  // was stored again meanwhile: the file of that number may be another one now.
  bool settle(const Authority& authority, const Message& message, int64_t seq, const Captured& captured);
  // Ends the waiting of all that a server which died was fetching; the keys for it are not stored. Called at
  // start.
  void give_up_pending();

  std::optional<Conversation> find(const Authority& authority, std::string_view name);
  std::optional<Message> find_message(const Authority& authority, std::string_view conversation,
                                      std::string_view name);
  // By the time that was given with them, oldest first; one without it stands behind all that were there.
  Page<Message> messages(const Authority& authority, const Conversation& conversation,
                         std::string_view cursor, size_t limit);
  // Last changed first.
  Page<Conversation> list(const Authority& authority, const ConversationFilter& filter,
                          std::string_view cursor, size_t limit);
  // Forgets; the files stay. Error(not_found).
  void remove(const Authority& authority, std::string_view conversation);
  void remove_message(const Authority& authority, std::string_view conversation, std::string_view name);

  // A message's files as `actor` may see them now; what was purged or is not for them is told as such.
  std::vector<ViewedFile> view(const Actor& actor, const Message& message);

  // Whether some message shows a version: such a version must not be thinned out.
  static bool is_shown(catalog::Statements& statements, const Id& version);

  // "conversations/<name>": where files that come with its messages are kept.
  static std::string folder_of(std::string_view conversation);

 private:
  Ground& ground_;
  Files& files_;
  Workspaces& workspaces_;
};

}  // namespace sk::conversations
