// Value types of the domain (see the glossary in ARCHITECTURE.md). They own their data and have no behaviour.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/id.h"
#include "base/json.h"
#include "identity/types.h"

namespace sk::workspace {

namespace prefix = sk::prefix;
using identity::Actor;
using identity::Author;

// `none`: an administrator sees the description of another principal's workspace, but not its files.
enum class Right { none = -1, read, write, own };

struct Workspace {
  Id id;
  std::string name;
  Id owner;
  std::string owner_name;
  Right role = Right::none;  // of the requesting actor, limited by its key; an Authority copies it
  uint64_t quota_bytes = 0;
  uint64_t used_bytes = 0;
  TimeUs created_us = 0;
  std::optional<TimeUs> trashed_us;
};

enum class EntryKind : int { file = 0, folder = 1 };

// A file or folder at its path.
struct Entry {
  Id id;
  Id workspace;
  std::string path;
  EntryKind kind = EntryKind::file;
  Id head;  // the current version; zero for folders
  uint64_t size = 0;
  Sha256 sha256;
  std::string mime;
  uint32_t mode = 0644;
  TimeUs mtime_us = 0;  // set by the writer, else the time of the write
  TimeUs created_us = 0;
  TimeUs changed_us = 0;  // from the server's clock
  int64_t version_count = 0;
  int64_t last_number = 0;  // of its newest version, even if that was purged
  bool diverged = false;    // two writers started from the same base; both results are versions
  std::optional<TimeUs> trashed_us;
  Id trash_root;  // the entry that was trashed with it: itself or a folder above it; zero while not trashed
};

// The origin of a version.
struct Source {
  std::string kind = "upload";   // upload | execution | import | restore | copy
  Json detail = Json::object();  // ids of session, execution, restored version…
};

struct Version {
  Id id;
  Id file;
  Id workspace;
  std::string path;    // the file's current path; for a trashed file, its last path
  int64_t number = 0;  // 1, 2, … within its file
  uint64_t size = 0;
  Sha256 sha256;
  std::string mime;
  uint32_t mode = 0644;
  TimeUs mtime_us = 0;
  Id base;  // the version it was made from; zero if none
  TimeUs created_us = 0;
  Id author;
  std::string author_name;
  Source source;
  bool complete = true;  // false: captured while its writer had the file open
  bool is_head = false;
};

// Preconditions of a write.
struct Conditions {
  std::vector<Id> if_match;       // the head must be one of these
  bool if_match_any = false;      // If-Match: *: an entry must exist
  bool if_match_foreign = false;  // the tag names no version of this server and matches nothing
  std::optional<TimeUs> if_unmodified_since_us;  // in whole seconds, as in HTTP dates
  bool if_none_match_any = false;                // If-None-Match: *: no entry may exist
  std::vector<std::string> lock_tokens;
  std::optional<int64_t> fence;  // the write fails if a later lock covered the path
};

struct Lock {
  Id id;
  Id workspace;
  std::string path;
  bool deep = false;
  bool shared = false;
  Id owner;
  std::string owner_name;
  std::string purpose;
  int64_t fence = 0;
  TimeUs created_us = 0;
  TimeUs expires_us = 0;
  std::string token;  // set only in the results of acquire and renew
};

// One line of a journal.
struct JournalEntry {
  Id workspace;  // zero: the server's own journal
  int64_t seq = 0;
  TimeUs time_us = 0;
  std::string kind;  // file.write, file.move, lock.acquire, …
  Id actor;
  Json facts;     // ids, sizes, numbers
  Json personal;  // names, paths, texts: null once erased
  Sha256 hash;
};

// The order of a list that is sorted by id; ids grow with time.
enum class Order { newest_first, oldest_first };

template <class T>
struct Page {
  std::vector<T> items;
  bool has_more = false;
  std::string next_cursor;  // empty when !has_more
};

}  // namespace sk::workspace
