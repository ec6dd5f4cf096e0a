// The journal: the ordered, hash-chained list of every change in a workspace, and one for the server. Entries
// are written in the transaction of the change. STORAGE_FORMAT.md defines the hash of an entry.
#pragma once

#include "catalog/database.h"
#include "workspace/authority.h"
#include "workspace/keep_context.h"
#include "workspace/types.h"
#include "workspace/usage.h"

namespace sk::workspace {

struct EventFilter {
  std::vector<std::string> kinds;  // exact, or a prefix ending in '*' such as "lock.*"
  std::string path_prefix;
  bool and_above = false;  // also match changes of parent folders and entries whose paths were erased
  std::optional<Id> actor;
};

struct Events {
  std::vector<JournalEntry> items;
  int64_t cursor = 0;  // pass as `after` to continue; also advances over entries that the filter skipped
  bool has_more = false;
};

// The permission to read one journal. Only an authority in the workspace, an administrator or the server
// creates one. A value.
class ReadableJournal {
 public:
  // The journal of the authority's workspace. Implicit, so that calls take the authority itself. If the
  // authority is limited to a path, only entries about that path are readable, without the names of other
  // paths. Error(not_found) if the authority may not read.
  ReadableJournal(const Authority& authority);
  // The server's own journal. Error(forbidden) unless the actor is an administrator.
  static ReadableJournal of_server(const Actor& administrator);
  // The server's own journal, for work without a request.
  static ReadableJournal of_server(SystemReason reason);

  const Id& workspace() const { return workspace_; }  // zero: the server's journal
  const std::string& path_scope() const { return path_scope_; }

 private:
  ReadableJournal() = default;

  Id workspace_;
  std::string path_scope_;
};

// The end of a journal.
struct JournalHead {
  Id workspace;  // zero: the server's own journal
  int64_t seq = 0;
};

// Any thread.
class Journal {
 public:
  explicit Journal(KeepContext& context) : context_(context) {}

  // Appends an entry inside `tx` and notifies the feed after the commit. `workspace` zero selects the
  // server's journal. Returns the entry's sequence number. `rows` are counted with the entry, which costs
  // nothing then.
  static int64_t append(catalog::Tx& tx, KeepContext& context, const Id& workspace, const Author& author,
                        std::string_view kind, const Json& facts, const Json& personal,
                        const FileRows& rows = {});

  Events events(const ReadableJournal& journal, int64_t after, size_t limit, const EventFilter& filter);
  int64_t head_seq(const ReadableJournal& journal);
  // Whether a workspace, or zero for the server, has a journal: false once the workspace is purged.
  static bool exists(catalog::Statements& statements, const Id& workspace);
  // Lists the heads of all journals in the order of their workspaces; unset: from the beginning.
  std::vector<JournalHead> heads(const std::optional<Id>& after, size_t limit);

  // Deletes the personal part and its salt of entries by a principal and of entries whose facts name it. The
  // chain stays valid. Returns the number of entries. Error(forbidden) unless the actor is an administrator.
  int64_t erase_personal(const Actor& actor, const Id& principal);

 private:
  KeepContext& context_;
};

}  // namespace sk::workspace
