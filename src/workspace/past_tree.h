// Reconstructs a folder as of a time. Paths come from `entries` and `placements`, contents from `versions`,
// mode and mtime from `versions` and `attributes`. Private to this room.
#pragma once

#include "catalog/database.h"
#include "workspace/types.h"

namespace sk::workspace {

struct PastEntry {
  Entry now;         // the current state, possibly trashed
  std::string path;  // at that time
  Id head;           // at that time; zero for folders and for a file whose content of that time was purged
  Sha256 sha256;
  std::string mime;
  // The current values if the content was purged.
  uint32_t mode = 0;
  TimeUs mtime_us = 0;

  bool moved() const { return now.trashed_us || now.path != path; }
  bool content_purged() const { return now.kind == EntryKind::file && !head; }
  bool other_content() const { return head && (now.sha256 != sha256 || now.mime != mime); }
  bool other_attributes() const { return now.mode != mode || now.mtime_us != mtime_us; }
};

// The content of a file at a time. nullopt if it was purged since, even if an older version remains.
struct PastContent {
  Id version;
  Sha256 sha256;
  std::string mime;
  uint32_t mode = 0;
  TimeUs mtime_us = 0, head_us = 0;
};
std::optional<PastContent> past_content(catalog::Statements& statements, const Id& file, TimeUs time_us);

// Returns the entries at `path` and below ("" for all) at `time_us`, folders before their contents. Omits
// entries that were purged since.
std::vector<PastEntry> past_tree(catalog::Statements& statements, const Id& workspace, std::string_view path,
                                 TimeUs time_us);

}  // namespace sk::workspace
