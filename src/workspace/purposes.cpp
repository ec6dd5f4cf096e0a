#include "workspace/purposes.h"

#include <algorithm>

#include "base/error.h"
#include "base/path.h"
#include "identity/access.h"
#include "workspace/change_run.h"
#include "workspace/file_at.h"
#include "workspace/workspace_rows.h"

namespace sk::workspace {

namespace {

constexpr size_t kDueAtOnceMax = 1'000;

#define SK_GIVEN_LIST(FIRST, NEXT) \
  SK_VERSION_LIST(FIRST, NEXT)     \
  NEXT(purpose, "f.purpose")       \
  NEXT(expires_us, "f.expires_us") \
  NEXT(trashed_us, "e.trashed_us") \
  NEXT(retracted_us, "r.retracted_us")
#define SK_GIVEN_COLUMNS SK_COLUMN_TEXT(SK_GIVEN_LIST)
SK_COLUMN_NAMES(GivenColumn, SK_GIVEN_LIST);
#define SK_GIVEN_JOINS                       \
  " LEFT JOIN purposes f ON f.file = v.file" \
  " LEFT JOIN retracted_versions r ON r.version = v.id"

struct Found {
  GivenFile file;
  bool trashed = false, retracted = false;
};

Found read_found(const catalog::Row& row) {
  Found found;
  found.file.version = read_version(row);
  bool output = found.file.version.source.kind == "execution";
  found.file.purpose = row.is_null(GivenColumn::purpose)
                           ? std::string(output ? kOutputPurpose : kPlainPurpose)
                           : row.str(GivenColumn::purpose);
  found.file.expires_us = row.maybe_integer(GivenColumn::expires_us);
  found.trashed = !row.is_null(GivenColumn::trashed_us);
  // Restoring a file from the trash overrides an earlier retraction.
  found.retracted = !row.is_null(GivenColumn::retracted_us) && (found.trashed || !found.file.version.is_head);
  return found;
}

std::optional<Found> find_row(catalog::Statements& statements, const Id& version) {
  return statements.one("SELECT " SK_GIVEN_COLUMNS " FROM " SK_VERSION_TABLES SK_GIVEN_JOINS
                        " WHERE v.id = $1",
                        {version}, read_found);
}

// The end of a list in descending order: ids are compared as bytes.
Id greatest_id() {
  Id id;
  id.bytes.fill(std::byte{0xff});
  return id;
}

struct Step {
  const GivenQuery& query;
  Id workspace;
  TimeUs now_us;
};

GivenFile read_given(const catalog::Row& row) { return read_found(row).file; }

// Files with an explicit purpose. Their number is limited by what users upload, so sorting is cheap.
#define SK_GIVEN_WHERE                                                                            \
  " FROM purposes f JOIN entries e ON e.id = f.file JOIN versions v ON v.id = e.head"             \
  " LEFT JOIN principals p ON p.id = v.author LEFT JOIN retracted_versions r ON r.version = v.id" \
  " WHERE f.workspace = $1 AND ($2 = '' OR f.purpose = $2) AND e.trashed_us IS NULL"              \
  " AND (f.expires_us IS NULL OR f.expires_us > $3)"

std::vector<GivenFile> given_step(catalog::Statements& statements, const Step& step) {
  const auto& query = step.query;
  if (query.order == Order::oldest_first)
    return statements.all("SELECT " SK_GIVEN_COLUMNS SK_GIVEN_WHERE " AND v.id > $4 ORDER BY v.id LIMIT $5",
                          {step.workspace, query.purpose, step.now_us, query.after, query.limit}, read_given);
  return statements.all(
      "SELECT " SK_GIVEN_COLUMNS SK_GIVEN_WHERE " AND v.id < $4 ORDER BY v.id DESC LIMIT $5",
      {step.workspace, query.purpose, step.now_us, query.after ? query.after : greatest_id(), query.limit},
      read_given);
}

// Files written by executions. An index holds exactly these versions in id order.
#define SK_WRITTEN_WHERE                                                 \
  " FROM " SK_VERSION_TABLES SK_GIVEN_JOINS                              \
  " WHERE v.workspace = $1 AND v.source = 'execution' AND e.head = v.id" \
  " AND e.trashed_us IS NULL AND f.file IS NULL"

std::vector<GivenFile> written_step(catalog::Statements& statements, const Step& step) {
  const auto& query = step.query;
  if (query.order == Order::oldest_first)
    return statements.all("SELECT " SK_GIVEN_COLUMNS SK_WRITTEN_WHERE " AND v.id > $2 ORDER BY v.id LIMIT $3",
                          {step.workspace, query.after, query.limit}, read_given);
  return statements.all("SELECT " SK_GIVEN_COLUMNS SK_WRITTEN_WHERE
                        " AND v.id < $2 ORDER BY v.id DESC LIMIT $3",
                        {step.workspace, query.after ? query.after : greatest_id(), query.limit}, read_given);
}

// Trashes the file if this is its newest version, and marks the version as retracted.
void retract_in(ChangeRun& run, const Found& found, const Conditions& conditions) {
  const Version& version = found.file.version;
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

std::string Purposes::place_for(std::string_view name) {
  auto base = split_path(name).second;
  if (base.empty() || base == "." || base == "..")
    throw Error(Code::bad_request, "the file has no name").with("field", "file");
  std::string place = "uploads/";
  place.append(to_iso8601(ground_.clock.now_us()), 0, 10);
  // The last twelve digits of an id are random.
  place.append("/").append(ground_.ids.next().hex().substr(20)).append("/").append(base);
  return clean_file_path(place);
}

std::optional<GivenFile> Purposes::find(const Actor& actor, const Id& version) {
  return ground_.db.read([&](catalog::Statements& statements) -> std::optional<GivenFile> {
    auto found = find_row(statements, version);
    if (found) {
      const auto& expires_us = found->file.expires_us;
      bool over = expires_us && *expires_us <= ground_.clock.now_us();
      if (found->retracted || over || !may_read(statements, actor, found->file.version.workspace))
        return std::nullopt;
      return std::move(found->file);
    }
    auto purged =
        statements.one("SELECT workspace, purged_us FROM purged_versions WHERE id = $1", {version},
                       [](const catalog::Row& row) { return std::pair(row.id(0), row.integer(1)); });
    if (!purged || !may_read(statements, actor, purged->first)) return std::nullopt;
    throw Error(Code::gone, "this file was purged at " + to_iso8601(purged->second))
        .with("purged_at", to_iso8601(purged->second));
  });
}

std::vector<GivenFile> Purposes::list(const Actor& actor, const GivenQuery& query) {
  std::vector<GivenFile> result;
  ground_.db.read([&](catalog::Statements& statements) {
    auto workspaces = statements.all(
        "SELECT w.id FROM members m JOIN workspaces w ON w.id = m.workspace WHERE m.principal = $1 AND "
        "w.trashed_us IS NULL",
        {actor.principal()}, [](const catalog::Row& row) { return row.id(0); });
    for (const Id& workspace : workspaces) {
      if (actor.only_workspace() && *actor.only_workspace() != workspace) continue;
      Step step{query, workspace, ground_.clock.now_us()};
      auto add = [&](std::vector<GivenFile> files) {
        std::move(files.begin(), files.end(), std::back_inserter(result));
      };
      add(given_step(statements, step));
      if (query.purpose.empty() || query.purpose == kOutputPurpose) add(written_step(statements, step));
    }
  });
  bool oldest_first = query.order == Order::oldest_first;
  std::sort(result.begin(), result.end(), [&](const GivenFile& a, const GivenFile& b) {
    return oldest_first ? a.version.id < b.version.id : b.version.id < a.version.id;
  });
  if (result.size() > query.limit) result.resize(query.limit);
  return result;
}

void Purposes::retract(const Actor& actor, const Id& version, const Conditions& conditions) {
  if (!actor.may_write()) throw Error(Code::forbidden, "a read-only key cannot delete files");
  auto not_there = [&] {
    return Error(Code::not_found, "there is no version " + version.with_prefix(prefix::version));
  };
  // A version never changes its workspace.
  auto named = ground_.db.read([&](catalog::Statements& statements) {
    identity::Access::check_key(statements, actor, ground_.clock.now_us());
    return workspace::find_version(statements, version);
  });
  if (!named) throw not_there();
  ground_.db.write(catalog::Scope::workspace(named->workspace), [&](catalog::Tx& tx) {
    identity::Access::check_key(tx, actor, tx.now_us());
    auto found = find_row(tx, version);
    auto role = !found ? std::nullopt
                       : tx.one("SELECT role FROM members WHERE principal = $1 AND workspace = $2",
                                {actor.principal(), found->file.version.workspace},
                                [](const catalog::Row& row) { return static_cast<Right>(row.integer(0)); });
    bool in_scope =
        found && (!actor.only_workspace() || *actor.only_workspace() == found->file.version.workspace);
    if (!role || !in_scope || found->retracted) throw not_there();
    if (*role < Right::write)
      throw Error(Code::forbidden, "this key may read the workspace, but not write to it");
    ChangeRun run(tx, ground_, actor, found->file.version.workspace);
    retract_in(run, *found, conditions);
  });
}

size_t Purposes::retract_due() {
  struct Due {
    Id version, workspace, owner, file;
  };
  auto due = ground_.db.read([&](catalog::Statements& statements) {
    return statements.all(
        "SELECT e.head, f.workspace, w.owner, f.file FROM purposes f JOIN entries e ON e.id = f.file JOIN "
        "workspaces w ON w.id = f.workspace WHERE f.expires_us <= $1 LIMIT $2",
        {ground_.clock.now_us(), kDueAtOnceMax},
        [](const catalog::Row& row) { return Due{row.id(0), row.id(1), row.id(2), row.id(3)}; });
  });
  size_t done = 0;
  for (const Due& one : due) {
    Author owner(one.owner, "expiry");
    try {
      ground_.db.write(catalog::Scope::workspace(one.workspace), [&](catalog::Tx& tx) {
        auto found = find_row(tx, one.version);
        ChangeRun run(tx, ground_, owner, one.workspace);
        if (found) retract_in(run, *found, {});
        tx.exec(
            "INSERT INTO retracted_versions (version, retracted_us) SELECT id, $2 FROM versions WHERE file = "
            "$1 "
            "ON CONFLICT (version) DO NOTHING",
            {one.file, run.now_us()});
        // Restoring the file from the trash then keeps it without an expiry.
        tx.exec("UPDATE purposes SET expires_us = NULL WHERE file = $1", {one.file});
      });
      ++done;
    } catch (const Error& error) {
      if (error.code() != Code::locked) throw;  // retried later; find() hides the file until then
    }
  }
  return done;
}

void Purposes::give(catalog::Tx& tx, const Entry& entry, const Purpose& purpose) {
  tx.exec(
      "INSERT INTO purposes (file, workspace, purpose, expires_us) VALUES ($1, $2, $3, $4) ON CONFLICT "
      "(file) "
      "DO UPDATE SET purpose = excluded.purpose, expires_us = excluded.expires_us",
      {entry.id, entry.workspace, purpose.name, purpose.expires_us});
}

void Purposes::forget(catalog::Tx& tx, const Id& file) {
  tx.exec("DELETE FROM retracted_versions WHERE version IN (SELECT id FROM versions WHERE file = $1)",
          {file});
  tx.exec("DELETE FROM purposes WHERE file = $1", {file});
}

}  // namespace sk::workspace
