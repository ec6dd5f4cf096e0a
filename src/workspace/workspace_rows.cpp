#include "workspace/workspace_rows.h"

#include "base/error.h"
#include "base/path.h"
#include "workspace/journal.h"

namespace sk::workspace {

Workspace insert_workspace(catalog::Tx& tx, Ground& ground, const Actor& owner, const std::string& name,
                           uint64_t quota_bytes) {
  Workspace made;
  made.id = ground.ids.next();
  made.name = name;
  made.owner = owner.principal();
  made.owner_name = owner.name();
  made.role = Right::own;
  made.quota_bytes = quota_bytes;
  made.created_us = tx.now_us();
  if (tx.query("SELECT 1 FROM workspaces WHERE owner = $1 AND name = $2 AND trashed_us IS NULL",
               {owner.principal(), name}, [](const catalog::Row&) { return false; }) > 0)
    throw Error(Code::conflict, "you have a workspace named '" + name + "' already")
        .advise(Advice::choose_other_name);
  std::array<std::byte, 32> secret;
  fill_random(secret);
  tx.exec(
      "INSERT INTO workspaces (id, name, owner, quota_bytes, used_bytes, next_fence, link_secret, "
      "created_us) "
      "VALUES ($1, $2, $3, $4, 0, 1, $5, $6)",
      {made.id, name, owner.principal(), quota_bytes, catalog::Param::raw(as_text(secret)), made.created_us});
  tx.exec("INSERT INTO members (principal, workspace, role) VALUES ($1, $2, $3)",
          {owner.principal(), made.id, static_cast<int>(Right::own)});
  Journal::append(tx, ground, made.id, owner, "workspace.create",
                  {{"workspace_id", made.id.with_prefix(prefix::workspace)}, {"quota_bytes", quota_bytes}},
                  {{"name", name}});
  return made;
}

bool may_read(catalog::Statements& statements, const Actor& actor, const Id& workspace) {
  if (actor.only_workspace() && *actor.only_workspace() != workspace) return false;
  return statements.query("SELECT 1 FROM members WHERE principal = $1 AND workspace = $2",
                          {actor.principal(), workspace}, [](const catalog::Row&) { return false; }) > 0;
}

Entry read_entry(const catalog::Row& row) {
  Entry entry;
  entry.id = row.id(0);
  entry.workspace = row.id(1);
  entry.path = join_path(row.text(2), row.text(3));
  entry.kind = static_cast<EntryKind>(row.integer(4));
  entry.head = row.id(5);
  entry.size = static_cast<uint64_t>(row.integer(6));
  if (!row.is_null(7)) entry.sha256 = row.hash(7);
  entry.mime = row.str(8);
  entry.mode = static_cast<uint32_t>(row.integer(9));
  entry.mtime_us = row.integer(10);
  entry.created_us = row.integer(11);
  entry.changed_us = row.integer(12);
  entry.version_count = row.integer(13);
  entry.diverged = row.integer(14) != 0;
  entry.trashed_us = row.maybe_integer(15);
  entry.last_number = row.integer(16);
  entry.trash_root = row.id(17);
  return entry;
}

Version read_version(const catalog::Row& row) {
  Version version;
  version.id = row.id(0);
  version.file = row.id(1);
  version.workspace = row.id(2);
  version.path = join_path(row.text(3), row.text(4));
  version.number = row.integer(5);
  version.size = static_cast<uint64_t>(row.integer(6));
  version.sha256 = row.hash(7);
  version.mime = row.str(8);
  version.mode = static_cast<uint32_t>(row.integer(9));
  version.mtime_us = row.integer(10);
  version.base = row.id(11);
  version.created_us = row.integer(12);
  version.author = row.id(13);
  version.author_name = row.str(14);
  version.source.kind = row.str(15);
  if (!row.is_null(16)) version.source.detail = Json::parse(row.text(16));
  version.complete = row.integer(17) != 0;
  version.is_head = row.id(18) == version.id;
  return version;
}

}  // namespace sk::workspace
