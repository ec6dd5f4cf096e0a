// The nouns of the domain as values (see the glossary in ARCHITECTURE.md).
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

// `none`: an administrator looks at somebody else's workspace from outside.
enum class Right { none = -1, read, write, own };

struct Workspace {
  Id id;
  std::string name;
  Id owner;
  std::string owner_name;
  Right role = Right::none;  // the asking actor's, its key's scope included; an Authority is made with it
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
  TimeUs mtime_us = 0;  // as the writer said, else when written
  TimeUs created_us = 0;
  TimeUs changed_us = 0;  // by our clock
  int64_t version_count = 0;
  int64_t last_number = 0;  // of its newest version, be it purged since
  bool diverged = false;    // two writers wrote from one base; both are among the versions
  std::optional<TimeUs> trashed_us;
  Id trash_root;  // what it went to the trash with: itself, or a folder above it; zero while it is not there
};

// Where a version came from.
struct Source {
  std::string kind = "upload";   // upload | execution | import | restore | copy
  Json detail = Json::object();  // ids of session, execution, restored version…
};

struct Version {
  Id id;
  Id file;
  Id workspace;
  std::string path;    // where the file is now; where it was when trashed
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
  bool complete = true;  // false: kept while its writer had it open
  bool is_head = false;
};

// What every write may carry.
struct Conditions {
  std::vector<Id> if_match;                      // the head must be one of these
  bool if_match_any = false;                     // If-Match: *: something must be there
  bool if_match_foreign = false;                 // a tag that names no version of ours: matches nothing
  std::optional<TimeUs> if_unmodified_since_us;  // to the second, as HTTP has it
  bool if_none_match_any = false;                // If-None-Match: *: nothing may be there
  std::vector<std::string> lock_tokens;
  std::optional<int64_t> fence;  // refused when a later lock covered the path
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
  std::string token;  // only in the answer to acquire and renew
};

// One line of a journal.
struct JournalEntry {
  Id workspace;  // zero: the server's own journal
  int64_t seq = 0;
  TimeUs time_us = 0;
  std::string kind;  // file.put, file.move, lock.acquire, …
  Id actor;
  Json facts;     // ids, sizes, numbers
  Json personal;  // names, paths, texts: null once erased
  Sha256 hash;
};

// Of a list by ids, which grow with time.
enum class Order { newest_first, oldest_first };

template <class T>
struct Page {
  std::vector<T> items;
  bool has_more = false;
  std::string next_cursor;  // empty when !has_more
};

}  // namespace sk::workspace
