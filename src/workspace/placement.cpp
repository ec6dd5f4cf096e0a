// Where entries are, and were: moving, trashing, bringing back. Every place that an entry leaves goes into
// `placements`, so that a folder can be restored as of a time.
#include "workspace/change_run.h"
#include "workspace/path.h"

namespace sk::workspace {

void ChangeRun::place(const Entry& entry, const std::string& to) {
  carry_fences(tx_, workspace_, entry.path, to);
  auto [parent, name] = split_path(to);
  tx_.exec(
      "INSERT INTO placements (workspace, file, until_us, since_us, parent, name) "
      "SELECT workspace, id, $2, placed_us, parent, name FROM entries WHERE id = $1 ON CONFLICT DO NOTHING",
      {entry.id, now_us_});
  tx_.exec("UPDATE entries SET parent = $2, name = $3, placed_us = $4, changed_us = $4 WHERE id = $1",
           {entry.id, parent, name, now_us_});
  if (entry.kind != EntryKind::folder) return;
  Below range(entry.path);
  tx_.exec(
      "INSERT INTO placements (workspace, file, until_us, since_us, parent, name) "
      "SELECT workspace, id, $5, placed_us, parent, name FROM entries WHERE workspace = $1 AND trashed_us IS "
      "NULL AND parent >= $2 AND parent < $4 "
      "AND (parent = $2 OR parent >= $3) ON CONFLICT DO NOTHING",
      {workspace_, range.exact, range.from, range.to, now_us_});
  tx_.exec(
      "UPDATE entries SET parent = $6 || substr(parent, length($2) + 1), placed_us = $5 WHERE workspace = $1 "
      "AND trashed_us IS NULL AND "
      "parent >= $2 AND parent < $4 AND (parent = $2 OR parent >= $3)",
      {workspace_, range.exact, range.from, range.to, now_us_, to});
}

void ChangeRun::trash(const Entry& entry) {
  int64_t count = 1;
  tx_.exec(
      "INSERT INTO placements (workspace, file, until_us, since_us, parent, name) "
      "SELECT workspace, id, $2, placed_us, parent, name FROM entries WHERE id = $1 ON CONFLICT DO NOTHING",
      {entry.id, now_us_});
  if (entry.kind == EntryKind::folder) {
    Below range(entry.path);
    tx_.exec(
        "INSERT INTO placements (workspace, file, until_us, since_us, parent, name) "
        "SELECT workspace, id, $5, placed_us, parent, name FROM entries WHERE workspace = $1 AND trashed_us "
        "IS NULL AND parent >= $2 AND "
        "parent < $4 AND (parent = $2 OR parent >= $3) ON CONFLICT DO NOTHING",
        {workspace_, range.exact, range.from, range.to, now_us_});
    count += static_cast<int64_t>(tx_.exec(
        "UPDATE entries SET trashed_us = $5, trash_root = $6 WHERE workspace = $1 AND trashed_us IS NULL AND "
        "parent >= $2 AND parent < $4 AND (parent = $2 OR parent >= $3)",
        {workspace_, range.exact, range.from, range.to, now_us_, entry.id}));
  }
  tx_.exec("UPDATE entries SET trashed_us = $2, trash_root = $1 WHERE id = $1", {entry.id, now_us_});
  journal(entry.kind == EntryKind::folder ? "folder.trash" : "file.trash",
          {{"file_id", entry.id.with_prefix(prefix::file)}, {"entries", count}}, {{"path", entry.path}});
}

void ChangeRun::untrash(const Entry& root, const std::string& to) {
  carry_fences(tx_, workspace_, root.path, to);
  auto [parent, name] = split_path(to);
  tx_.exec(
      "UPDATE entries SET parent = $3 || substr(parent, length($2) + 1), placed_us = $4, trashed_us = NULL, "
      "trash_root = NULL "
      "WHERE trash_root = $1 AND id <> $1",
      {root.id, root.path, to, now_us_});
  tx_.exec(
      "UPDATE entries SET parent = $2, name = $3, placed_us = $4, changed_us = $4, trashed_us = NULL, "
      "trash_root = NULL WHERE id = $1",
      {root.id, parent, name, now_us_});
  journal(root.kind == EntryKind::folder ? "folder.restore" : "file.restore",
          {{"file_id", root.id.with_prefix(prefix::file)}}, {{"from", root.path}, {"path", to}});
}

}  // namespace sk::workspace
