#include "workspace/workspace_rows.h"

#include "base/error.h"
#include "base/path.h"
#include "workspace/journal.h"
#include "workspace/usage.h"

namespace sk::workspace {

Workspace insert_workspace(catalog::Tx& tx, KeepContext& context, const Author& owner,
                           const std::string& name, uint64_t quota_bytes) {
  Workspace made;
  made.id = context.ids.next();
  made.name = name;
  made.owner = owner.principal;
  made.owner_name = owner.name;
  made.role = Right::own;
  made.quota_bytes = quota_bytes;
  made.created_us = tx.now_us();
  if (tx.query("SELECT 1 FROM workspaces WHERE owner = $1 AND name = $2 AND trashed_us IS NULL",
               {owner.principal, name}, [](const catalog::Row&) { return false; }) > 0)
    throw Error(Code::conflict, "you have a workspace named '" + name + "' already")
        .advise(Advice::choose_other_name);
  add_workspace(tx, context, owner.principal);
  std::array<std::byte, 32> secret;
  fill_random(secret);
  tx.exec(
      "INSERT INTO workspaces (id, name, owner, quota_bytes, used_bytes, next_fence, link_secret, "
      "created_us) "
      "VALUES ($1, $2, $3, $4, 0, 1, $5, $6)",
      {made.id, name, owner.principal, quota_bytes, catalog::Param::raw(as_text(secret)), made.created_us});
  tx.exec(
      "INSERT INTO workspace_usage (workspace, messages, message_bytes, executions, execution_bytes, "
      "journal_bytes) VALUES ($1, 0, 0, 0, 0, 0)",
      {made.id});
  tx.exec("INSERT INTO members (principal, workspace, role) VALUES ($1, $2, $3)",
          {owner.principal, made.id, static_cast<int>(Right::own)});
  Journal::append(tx, context, made.id, owner, "workspace.create",
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
  using Column = EntryColumn;
  Entry entry;
  entry.id = row.id(Column::id);
  entry.workspace = row.id(Column::workspace);
  entry.path = join_path(row.text(Column::parent), row.text(Column::name));
  entry.kind = static_cast<EntryKind>(row.integer(Column::kind));
  entry.head = row.id(Column::head);
  entry.size = static_cast<uint64_t>(row.integer(Column::size));
  if (!row.is_null(Column::sha256)) entry.sha256 = row.hash(Column::sha256);
  entry.mime = row.str(Column::mime);
  entry.mode = static_cast<uint32_t>(row.integer(Column::mode));
  entry.mtime_us = row.integer(Column::mtime_us);
  entry.created_us = row.integer(Column::created_us);
  entry.changed_us = row.integer(Column::changed_us);
  entry.version_count = row.integer(Column::version_count);
  entry.diverged = row.integer(Column::diverged) != 0;
  entry.trashed_us = row.maybe_integer(Column::trashed_us);
  entry.last_number = row.integer(Column::last_number);
  entry.trash_root = row.id(Column::trash_root);
  return entry;
}

Version read_version(const catalog::Row& row) {
  using Column = VersionColumn;
  Version version;
  version.id = row.id(Column::id);
  version.file = row.id(Column::file);
  version.workspace = row.id(Column::workspace);
  version.path = join_path(row.text(Column::parent), row.text(Column::name));
  version.number = row.integer(Column::number);
  version.size = static_cast<uint64_t>(row.integer(Column::size));
  version.sha256 = row.hash(Column::sha256);
  version.mime = row.str(Column::mime);
  version.mode = static_cast<uint32_t>(row.integer(Column::mode));
  version.mtime_us = row.integer(Column::mtime_us);
  version.base = row.id(Column::base);
  version.created_us = row.integer(Column::created_us);
  version.author = row.id(Column::author);
  version.author_name = row.str(Column::author_name);
  version.source.kind = row.str(Column::source);
  if (!row.is_null(Column::source_detail))
    version.source.detail = Json::parse(row.text(Column::source_detail));
  version.complete = row.integer(Column::complete) != 0;
  version.is_head = row.id(Column::head) == version.id;
  return version;
}

}  // namespace sk::workspace
