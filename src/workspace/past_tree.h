// What lay below a folder at a time: where each file was called what comes from its places (entries and
// placements), what it held from its versions, its mode and mtime from those and from `attributes`. Private
// to this room.
#pragma once

#include "catalog/database.h"
#include "workspace/types.h"

namespace sk::workspace {

struct PastEntry {
  Entry now;         // as it is, in the trash perhaps
  std::string path;  // where it was
  Id head;           // what it held; zero for folders, and for a file whose content of that time was purged
  Sha256 sha256;
  std::string mime;
  // As present when the content was purged.
  uint32_t mode = 0;
  TimeUs mtime_us = 0;

  bool moved() const { return now.trashed_us || now.path != path; }
  bool content_purged() const { return now.kind == EntryKind::file && !head; }
  bool other_content() const { return head && (now.sha256 != sha256 || now.mime != mime); }
  bool other_attributes() const { return now.mode != mode || now.mtime_us != mtime_us; }
};

// The content that a file had at a time. None when that was purged since, also where an older one is left.
struct PastContent {
  Id version;
  Sha256 sha256;
  std::string mime;
  uint32_t mode = 0;
  TimeUs mtime_us = 0, head_us = 0;
};
std::optional<PastContent> past_content(catalog::Statements& statements, const Id& file, TimeUs time_us);

// What was at `path` and below it ("" for everything), folders before what they held. What was purged since
// is not there.
std::vector<PastEntry> past_tree(catalog::Statements& statements, const Id& workspace, std::string_view path,
                                 TimeUs time_us);

}  // namespace sk::workspace
