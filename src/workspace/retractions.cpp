#include "workspace/retractions.h"

#include "base/error.h"
#include "identity/access.h"
#include "workspace/change_run.h"
#include "workspace/file_at.h"
#include "workspace/workspace_rows.h"

namespace sk::workspace {

namespace {

#define SK_FOUND_LIST(FIRST, NEXT) \
  SK_VERSION_LIST(FIRST, NEXT)     \
  NEXT(trashed_us, "e.trashed_us") \
  NEXT(retracted_us, "r.retracted_us")
SK_COLUMN_NAMES(FoundColumn, SK_FOUND_LIST);

struct FoundVersion {
  Version version;
  bool trashed = false, retracted = false;
};

FoundVersion read_found_version(const catalog::Row& row) {
  FoundVersion found;
  found.version = read_version(row);
  found.trashed = !row.is_null(FoundColumn::trashed_us);
  // Restoring a file from the trash overrides an earlier retraction.
  found.retracted = !row.is_null(FoundColumn::retracted_us) && (found.trashed || !found.version.is_head);
  return found;
}

std::optional<FoundVersion> find_row(catalog::Statements& statements, const Id& version) {
  return statements.one(
      "SELECT " SK_COLUMN_TEXT(
          SK_FOUND_LIST) " FROM " SK_VERSION_TABLES
                         " LEFT JOIN retracted_versions r ON r.version = v.id WHERE v.id = $1",
      {version}, read_found_version);
}

// Trashes the file if this is its newest version, and marks the version as retracted.
void retract_in(ChangeRun& run, const FoundVersion& found, const Conditions& conditions) {
  const Version& version = found.version;
  if (version.is_head && !found.trashed) {
    Change trash = TrashChange{.path = version.path, .conditions = conditions};
    run.run(trash);
  } else if (!found.trashed) {
    run.check_locks(version.path, Touches::content, conditions);
  }
  run.tx().exec(
      "INSERT INTO retracted_versions (version, retracted_us) VALUES ($1, $2) ON CONFLICT (version) DO "
      "NOTHING",
      {version.id, run.now_us()});
  run.journal("version.retract",
              {{"file_id", version.file.with_prefix(prefix::file)},
               {"version_id", version.id.with_prefix(prefix::version)}},
              {{"path", version.path}});
}

}  // namespace

std::optional<Version> Retractions::find(const Actor& actor, const Id& version) {
  return context_.db.read([&](catalog::Statements& statements) { return find(statements, actor, version); });
}

std::optional<Version> Retractions::find(catalog::Statements& statements, const Actor& actor,
                                         const Id& version) {
  if (auto found = find_row(statements, version)) {
    if (found->retracted || !may_read(statements, actor, found->version.workspace)) return std::nullopt;
    return std::move(found->version);
  }
  auto purged = statements.one("SELECT workspace, purged_us FROM purged_versions WHERE id = $1", {version},
                               [](const catalog::Row& row) { return std::pair(row.id(0), row.integer(1)); });
  if (!purged || !may_read(statements, actor, purged->first)) return std::nullopt;
  throw Error(Code::gone, "this file was purged at " + to_iso8601(purged->second))
      .with("purged_at", to_iso8601(purged->second));
}

void Retractions::retract(const Actor& actor, const Id& version, const Conditions& conditions) {
  if (!actor.may_write()) throw Error(Code::forbidden, "a read-only key cannot delete files");
  auto not_there = [&] {
    return Error(Code::not_found, "there is no version " + version.with_prefix(prefix::version));
  };
  // A version never changes its workspace.
  auto named = context_.db.read([&](catalog::Statements& statements) {
    identity::Access::check_key(statements, actor, context_.clock.now_us());
    return find_version(statements, version);
  });
  if (!named) throw not_there();
  context_.db.write(catalog::Scope::workspace(named->workspace), [&](catalog::Tx& tx) {
    identity::Access::check_key(tx, actor, tx.now_us());
    auto found = find_row(tx, version);
    auto role = !found ? std::nullopt
                       : tx.one(
                             "SELECT m.role FROM members m JOIN workspaces w ON w.id = m.workspace WHERE "
                             "m.principal = $1 AND m.workspace = $2 AND w.trashed_us IS NULL",
                             {actor.principal(), found->version.workspace},
                             [](const catalog::Row& row) { return static_cast<Right>(row.integer(0)); });
    bool in_scope = found && (!actor.only_workspace() || *actor.only_workspace() == found->version.workspace);
    if (!role || !in_scope || found->retracted) throw not_there();
    if (*role < Right::write)
      throw Error(Code::forbidden, "this key may read the workspace, but not write to it");
    ChangeRun run(tx, context_, actor, found->version.workspace);
    retract_in(run, *found, conditions);
  });
}

void Retractions::retract_file(const Id& workspace, const Id& file, SystemReason reason,
                               const std::function<void(catalog::Tx& tx)>& also) {
  context_.db.write(catalog::Scope::workspace(workspace), [&](catalog::Tx& tx) {
    struct Whose {
      Id head, owner;
    };
    auto whose = tx.one(
        "SELECT e.head, w.owner FROM entries e JOIN workspaces w ON w.id = e.workspace "
        "WHERE e.id = $1 AND e.workspace = $2",
        {file, workspace}, [](const catalog::Row& row) { return Whose{row.id(0), row.id(1)}; });
    if (whose) {
      auto authority = system_authority(workspace, Author(whose->owner, "expiry"), reason);
      ChangeRun run(tx, context_, authority);
      if (auto found = find_row(tx, whose->head)) retract_in(run, *found, {});
      tx.exec(
          "INSERT INTO retracted_versions (version, retracted_us) SELECT id, $2 FROM versions WHERE file = "
          "$1 ON CONFLICT (version) DO NOTHING",
          {file, run.now_us()});
    }
    also(tx);
  });
}

void Retractions::forget(catalog::Tx& tx, const Id& version) {
  tx.exec("DELETE FROM retracted_versions WHERE version = $1", {version});
}

}  // namespace sk::workspace
