#include "workspace/file_at.h"

#include "base/path.h"
#include "workspace/past_tree.h"
#include "workspace/workspace_rows.h"

namespace sk::workspace {

std::optional<Version> version_at(catalog::Statements& statements, const Id& workspace, std::string_view path,
                                  TimeUs time_us) {
  auto [parent, name] = split_path(path);
  auto take_id = [](const catalog::Row& row) { return row.id(0); };
  auto file = statements.one(
      "SELECT id FROM entries WHERE workspace = $1 AND parent = $2 AND name = $3 AND trashed_us IS NULL AND "
      "kind = 0 AND placed_us <= $4",
      {workspace, parent, name, time_us}, take_id);
  if (!file) {
    file = statements.one(
        "SELECT h.file FROM placements h JOIN entries e ON e.id = h.file WHERE h.workspace = $1 AND "
        "h.parent = $2 AND h.name = $3 AND h.since_us <= $4 AND h.until_us > $4 AND e.kind = 0 "
        "ORDER BY h.until_us LIMIT 1",
        {workspace, parent, name, time_us}, take_id);
  }
  if (!file) return std::nullopt;
  auto content = past_content(statements, *file, time_us);
  if (!content) return std::nullopt;
  return find_version(statements, content->version);
}

std::optional<Version> find_version(catalog::Statements& statements, const Id& id) {
  return statements.one("SELECT " SK_VERSION_COLUMNS " FROM " SK_VERSION_TABLES " WHERE v.id = $1", {id},
                        read_version);
}

}  // namespace sk::workspace
