#include "workspace/past_tree.h"

#include <map>

#include "base/path.h"
#include "workspace/workspace_rows.h"

namespace sk::workspace {

namespace {

struct Attributes {
  TimeUs since_us;
  uint32_t mode;
  TimeUs mtime_us;
};

// Returns the attributes of each entry at `time_us`.
std::map<Id, Attributes> attributes_at(catalog::Statements& statements, const Id& workspace, TimeUs time_us) {
  std::map<Id, Attributes> result;
  statements.query(
      "SELECT file, since_us, mode, mtime_us FROM attributes WHERE workspace = $1 AND since_us <= $2 "
      "ORDER BY file, since_us",
      {workspace, time_us}, [&](const catalog::Row& row) {
        result[row.id(0)] = {row.integer(1), static_cast<uint32_t>(row.integer(2)), row.integer(3)};
        return true;
      });
  return result;
}

void fill_in(PastEntry& past, const std::optional<PastContent>& content, const Attributes* set) {
  past.mode = past.now.mode;
  past.mtime_us = past.now.mtime_us;
  if (past.now.kind == EntryKind::file) {
    if (!content) return;
    past.head = content->version;
    past.sha256 = content->sha256;
    past.mime = content->mime;
    past.mode = content->mode;
    past.mtime_us = content->mtime_us;
    if (set != nullptr && set->since_us < content->head_us) return;
  }
  if (set == nullptr) return;
  past.mode = set->mode;
  past.mtime_us = set->mtime_us;
}

}  // namespace

std::optional<PastContent> past_content(catalog::Statements& statements, const Id& file, TimeUs time_us) {
  auto found = statements.one(
      "SELECT id, sha256, mime, mode, mtime_us, head_us FROM versions WHERE file = $1 AND head_us <= $2 "
      "ORDER BY head_us DESC, number DESC LIMIT 1",
      {file, time_us}, [](const catalog::Row& row) {
        return PastContent{row.id(0),      row.hash(1),   row.str(2), static_cast<uint32_t>(row.integer(3)),
                           row.integer(4), row.integer(5)};
      });
  if (!found) return found;
  bool purged =
      statements.query("SELECT 1 FROM purged_versions WHERE file = $1 AND head_us <= $2 AND head_us > $3",
                       {file, time_us, found->head_us}, [](const catalog::Row&) { return false; }) > 0;
  return purged ? std::nullopt : found;
}

std::vector<PastEntry> past_tree(catalog::Statements& statements, const Id& workspace, std::string_view path,
                                 TimeUs time_us) {
  std::map<std::string, PastEntry> by_path;
  auto consider = [&](const catalog::Row& row) {
    PastEntry past;
    past.now = read_entry(row);
    past.path = join_path(row.text(EntryColumn::count), row.text(EntryColumn::count + 1));
    if (is_within(past.path, path)) by_path[past.path] = past;
    return true;
  };
  statements.query("SELECT " SK_ENTRY_COLUMNS
                   ", e.parent, e.name FROM entries e WHERE e.workspace = $1 AND e.trashed_us IS NULL AND "
                   "e.placed_us <= $2",
                   {workspace, time_us}, consider);
  statements.query(
      "SELECT " SK_ENTRY_COLUMNS
      ", h.parent, h.name FROM placements h JOIN entries e ON e.id = h.file WHERE h.workspace = $1 AND "
      "h.since_us <= $2 AND h.until_us > $2",
      {workspace, time_us}, consider);
  auto attributes = attributes_at(statements, workspace, time_us);
  std::vector<PastEntry> result;
  for (auto& [at, past] : by_path) {
    std::optional<PastContent> content;
    if (past.now.kind == EntryKind::file) content = past_content(statements, past.now.id, time_us);
    auto set = attributes.find(past.now.id);
    fill_in(past, content, set == attributes.end() ? nullptr : &set->second);
    result.push_back(std::move(past));
  }
  return result;
}

}  // namespace sk::workspace
