// Moves, trashes and restores entries. Every path that an entry leaves is recorded in `placements`, so that a
// folder can be restored as of a time.
#include <algorithm>

#include "base/error.h"
#include "base/path.h"
#include "workspace/change_run.h"
#include "workspace/workspace_rows.h"

namespace sk::workspace {

namespace {

size_t depth_of(std::string_view path) {
  return 1 + static_cast<size_t>(std::count(path.begin(), path.end(), '/'));
}

}  // namespace

void ChangeRun::check_paths_below(const Entry& entry, const std::string& to) {
  if (entry.kind != EntryKind::folder) return;
  if (to.size() <= entry.path.size() && depth_of(to) <= depth_of(entry.path)) return;
  std::string longest, deepest;
  auto take = [&](const catalog::Row& row) {
    std::string path = join_path(row.text(0), row.text(1));
    path.replace(0, entry.path.size(), to);
    if (depth_of(path) > depth_of(deepest)) deepest = path;
    if (path.size() > longest.size()) longest = std::move(path);
    return true;
  };
  Below range(entry.path);
  if (entry.trashed_us)
    tx_.query("SELECT parent, name FROM entries WHERE trash_root = $1 AND id <> $1", {entry.id}, take);
  else
    tx_.query(
        "SELECT parent, name FROM entries WHERE workspace = $1 AND trashed_us IS NULL AND parent >= $2 AND "
        "parent < $4 AND (parent = $2 OR parent >= $3)",
        {workspace_, range.exact, range.from, range.to}, take);
  auto refuse = [&](const std::string& path, const std::string& why) {
    throw Error(Code::bad_request, quoted_path(path) + " would " + why)
        .advise(Advice::shorten_target)
        .with_paths("source", Sentence::of_path(entry.path))
        .with_paths("path", Sentence::of_path(path));
  };
  if (longest.size() > kPathBytesMax)
    refuse(longest, "have " + std::to_string(longest.size()) + " bytes; a path has at most " +
                        std::to_string(kPathBytesMax));
  if (depth_of(deepest) > kDepthMax)
    refuse(deepest, "are deeper than " + std::to_string(kDepthMax) + " levels");
}

void ChangeRun::remember_place(const Id& entry) {
  tx_.query(
      "INSERT INTO placements (workspace, file, until_us, since_us, parent, name) "
      "SELECT workspace, id, $2, placed_us, parent, name FROM entries WHERE id = $1 ON CONFLICT DO NOTHING "
      "RETURNING octet_length(parent) + octet_length(name)",
      {entry, now_us()}, [this](const catalog::Row& row) {
        noted_rows_.add_places(row.integer(0), 1);
        return true;
      });
}

void ChangeRun::remember_places_below(const std::string& folder) {
  Below range(folder);
  tx_.query(
      "INSERT INTO placements (workspace, file, until_us, since_us, parent, name) "
      "SELECT workspace, id, $5, placed_us, parent, name FROM entries WHERE workspace = $1 AND trashed_us IS "
      "NULL AND parent >= $2 AND parent < $4 AND (parent = $2 OR parent >= $3) ON CONFLICT DO NOTHING "
      "RETURNING octet_length(parent) + octet_length(name)",
      {workspace_, range.exact, range.from, range.to, now_us()}, [this](const catalog::Row& row) {
        noted_rows_.add_places(row.integer(0), 1);
        return true;
      });
}

int64_t stored_path_bytes(std::string_view path) {
  auto [parent, name] = split_path(path);
  return static_cast<int64_t>(parent.size() + name.size());
}

void ChangeRun::note_moved(size_t entries, std::string_view from, std::string_view to) {
  auto longer = static_cast<int64_t>(to.size()) - static_cast<int64_t>(from.size());
  noted_rows_.lengthen_paths(static_cast<int64_t>(entries) * longer);
}

void ChangeRun::note_renamed(std::string_view from, std::string_view to) {
  noted_rows_.lengthen_paths(stored_path_bytes(to) - stored_path_bytes(from));
}

size_t longer_bytes(std::string_view from, std::string_view to) {
  return to.size() - std::min(to.size(), from.size());
}

void ChangeRun::touch(size_t entries, size_t cost) {
  // Captures and the server's own work must not fail for a limit that protects others from requests.
  if (authority_ == nullptr || authority_->origin() == Authority::Origin::system) return;
  const size_t max = context_.limits.changed_entries_max;
  touched_ += entries * cost;
  if (touched_ <= max) return;
  throw Error(Code::too_large, "this would change more than " + std::to_string(max / cost) +
                                   " entries at once (changed_entries_max; long paths count for several)")
      .advise(Advice::change_in_parts)
      .with("entries_max", static_cast<int64_t>(max / cost));
}

size_t ChangeRun::count_below(std::string_view folder, size_t longer_bytes) {
  Below range(folder);
  const size_t limit = context_.limits.changed_entries_max + 1;  // more need not be counted
  auto count = [](const catalog::Row& row) { return static_cast<size_t>(row.integer(0)); };
  if (folder.empty())
    return *tx_.one(
        "SELECT COALESCE(SUM(1 + (OCTET_LENGTH(parent) + $3) / 256), 0) FROM (SELECT parent FROM entries "
        "WHERE "
        "workspace = $1 AND trashed_us IS NULL LIMIT $2) AS some",
        {workspace_, limit, longer_bytes}, count);
  return *tx_.one(
      "SELECT COALESCE(SUM(1 + (OCTET_LENGTH(parent) + $6) / 256), 0) FROM (SELECT parent FROM entries WHERE "
      "workspace = $1 AND trashed_us IS NULL AND parent >= $2 AND parent < $4 AND (parent = $2 OR parent >= "
      "$3) "
      "LIMIT $5) AS some",
      {workspace_, range.exact, range.from, range.to, limit, longer_bytes}, count);
}

void ChangeRun::touch_trashed(const Entry& root, const std::string& to) {
  auto found = tx_.one(
      "SELECT COALESCE(SUM(1 + (OCTET_LENGTH(parent) + $3) / 256), 0) FROM (SELECT parent FROM entries WHERE "
      "trash_root = $1 AND id <> $1 LIMIT $2) AS some",
      {root.id, context_.limits.changed_entries_max + 1, longer_bytes(root.path, to)},
      [](const catalog::Row& row) { return static_cast<size_t>(row.integer(0)); });
  touch(*found);
}

bool ChangeRun::holds_something(const std::string& path) {
  Below range(path);
  return tx_.query(
             "SELECT 1 FROM entries WHERE workspace = $1 AND trashed_us IS NULL AND parent >= $2 AND parent "
             "< $4 AND (parent = $2 OR parent >= $3) LIMIT 1",
             {workspace_, range.exact, range.from, range.to}, [](const catalog::Row&) { return false; }) > 0;
}

void ChangeRun::check_each(const Entry& entry, const std::function<bool(const Entry&)>& only_if) {
  Below range(entry.path);
  std::optional<std::string> other;
  if (!only_if(entry)) other = entry.path;
  if (!other && entry.kind == EntryKind::folder)
    tx_.query("SELECT " SK_ENTRY_COLUMNS
              " FROM entries e WHERE e.workspace = $1 AND e.trashed_us IS NULL AND e.parent >= $2 AND "
              "e.parent < $4 "
              "AND (e.parent = $2 OR e.parent >= $3)",
              {workspace_, range.exact, range.from, range.to}, [&](const catalog::Row& row) {
                Entry below = read_entry(row);
                if (!only_if(below)) other = std::move(below.path);
                return !other;
              });
  if (other) throw Error(Code::conflict, quoted_path(*other) + " was written by somebody else meanwhile");
}

void ChangeRun::place(const Entry& entry, const std::string& to) {
  if (entry.kind == EntryKind::folder) touch(count_below(entry.path, longer_bytes(entry.path, to)));
  check_paths_below(entry, to);
  carry_fences(tx_, workspace_, entry.path, to);
  auto [parent, name] = split_path(to);
  remember_place(entry.id);
  tx_.exec("UPDATE entries SET parent = $2, name = $3, placed_us = $4, changed_us = $4 WHERE id = $1",
           {entry.id, parent, name, now_us()});
  note_renamed(entry.path, to);
  if (entry.kind != EntryKind::folder) return;
  remember_places_below(entry.path);
  Below range(entry.path);
  auto below = tx_.exec(
      "UPDATE entries SET parent = $6 || substr(parent, length($2) + 1), placed_us = $5 WHERE workspace = $1 "
      "AND trashed_us IS NULL AND "
      "parent >= $2 AND parent < $4 AND (parent = $2 OR parent >= $3)",
      {workspace_, range.exact, range.from, range.to, now_us(), to});
  note_moved(below, entry.path, to);
}

void ChangeRun::trash(const Entry& entry) {
  int64_t count = 1;
  if (entry.kind == EntryKind::folder) touch(count_below(entry.path));
  remember_place(entry.id);
  if (entry.kind == EntryKind::folder) {
    Below range(entry.path);
    remember_places_below(entry.path);
    count += static_cast<int64_t>(tx_.exec(
        "UPDATE entries SET trashed_us = $5, trash_root = $6 WHERE workspace = $1 AND trashed_us IS NULL AND "
        "parent >= $2 AND parent < $4 AND (parent = $2 OR parent >= $3)",
        {workspace_, range.exact, range.from, range.to, now_us(), entry.id}));
  }
  tx_.exec("UPDATE entries SET trashed_us = $2, trash_root = $1 WHERE id = $1", {entry.id, now_us()});
  journal(entry.kind == EntryKind::folder ? "folder.trash" : "file.trash",
          {{"file_id", entry.id.with_prefix(prefix::file)}, {"entries", count}}, {{"path", entry.path}});
}

void ChangeRun::trash_all(const std::vector<Entry>& entries) {
  std::map<std::string, Id> root_at;  // root of each folder
  std::map<Id, int64_t> counts;       // by root
  for (const Entry& entry : entries) {
    auto above = root_at.find(split_path(entry.path).first);
    Id root = above == root_at.end() ? entry.id : above->second;
    if (entry.kind == EntryKind::folder) root_at[entry.path] = root;
    ++counts[root];
    remember_place(entry.id);
    tx_.exec("UPDATE entries SET trashed_us = $2, trash_root = $3 WHERE id = $1", {entry.id, now_us(), root});
  }
  for (const Entry& entry : entries) {
    auto count = counts.find(entry.id);
    if (count == counts.end()) continue;
    journal(entry.kind == EntryKind::folder ? "folder.trash" : "file.trash",
            {{"file_id", entry.id.with_prefix(prefix::file)}, {"entries", count->second}},
            {{"path", entry.path}});
  }
}

void ChangeRun::regroup_trash(const Id& root) {
  // What is being purged does not come back.
  if (tx_.exists("SELECT 1 FROM purges WHERE root = $1", {root})) return;
  auto members = tx_.all("SELECT " SK_ENTRY_COLUMNS
                         " FROM entries e WHERE e.trash_root = $1 AND e.trashed_us IS NOT NULL ORDER BY "
                         "e.parent, e.name",
                         {root}, read_entry);
  std::map<std::string, Id> root_at;
  for (const Entry& member : members) {
    auto above = root_at.find(split_path(member.path).first);
    Id its_root = above == root_at.end() ? member.id : above->second;
    if (member.kind == EntryKind::folder) root_at[member.path] = its_root;
    if (its_root != member.trash_root)
      tx_.exec("UPDATE entries SET trash_root = $2 WHERE id = $1", {member.id, its_root});
  }
}

void ChangeRun::untrash(const Entry& root, const std::string& to) {
  touch_trashed(root, to);
  check_paths_below(root, to);
  carry_fences(tx_, workspace_, root.path, to);
  auto [parent, name] = split_path(to);
  auto below = tx_.exec(
      "UPDATE entries SET parent = $3 || substr(parent, length($2) + 1), placed_us = $4, trashed_us = NULL, "
      "trash_root = NULL "
      "WHERE trash_root = $1 AND id <> $1",
      {root.id, root.path, to, now_us()});
  tx_.exec(
      "UPDATE entries SET parent = $2, name = $3, placed_us = $4, changed_us = $4, trashed_us = NULL, "
      "trash_root = NULL WHERE id = $1",
      {root.id, parent, name, now_us()});
  note_renamed(root.path, to);
  note_moved(below, root.path, to);
  journal(root.kind == EntryKind::folder ? "folder.restore" : "file.restore",
          {{"file_id", root.id.with_prefix(prefix::file)}}, {{"from", root.path}, {"path", to}});
}

}  // namespace sk::workspace
