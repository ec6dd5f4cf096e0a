// The journal: the ordered, hash-chained list of every change in a workspace (and one for the server).
// Entries are written inside the change's own transaction. STORAGE_FORMAT.md says how an entry is hashed.
#pragma once

#include "catalog/database.h"
#include "workspace/ground.h"
#include "workspace/types.h"

namespace sk::workspace {

struct EventFilter {
  std::vector<std::string> kinds;  // exact, or a prefix ending in '*' such as "lock.*"
  std::string path_prefix;
  bool and_above =
      false;  // also what happened to the folders that it lies in, and to what nobody knows any more
  std::optional<Id> actor;
};

struct Events {
  std::vector<JournalEntry> items;
  int64_t cursor = 0;  // pass as `after` to go on; grows also over entries that the filter skipped
  bool has_more = false;
};

// Any thread.
class Journal {
 public:
  explicit Journal(Ground& ground) : ground_(ground) {}

  // Appends inside `tx`, and wakes the feed's waiters once it is durable. `workspace` zero: the server's
  // journal.
  static int64_t append(catalog::Tx& tx, Ground& ground, const Id& workspace, const Actor& actor,
                        std::string_view kind, const Json& facts, const Json& personal);

  Events events(const Id& workspace, int64_t after, size_t limit, const EventFilter& filter);
  int64_t head_seq(const Id& workspace);

  // Deletes the personal part, and its salt, of entries by a principal and of those whose facts name it; the
  // chain stays valid. How many entries. For administrators.
  int64_t erase_personal(const Actor& actor, const Id& principal);

 private:
  Ground& ground_;
};

}  // namespace sk::workspace
