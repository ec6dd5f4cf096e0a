#include "workspace/usage.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace sk::workspace {

namespace {

#define SK_RECORD_BYTES "u.message_bytes + u.execution_bytes + u.journal_bytes + u.entry_bytes"

struct Held {
  uint64_t contents = 0, records = 0, quota = 0;
  uint64_t owner_bytes = 0, owner_quota = 0;  // a quota of 0: none

  uint64_t counted() const { return contents + records - std::min(records, kFreeRecordBytes); }
};

// A figure that a bug made negative must not look like an enormous one.
uint64_t at_least_none(int64_t figure) { return static_cast<uint64_t>(std::max<int64_t>(0, figure)); }

// The quota that applies to an owner: its own, or the server's with what an upgrade added; 0: none.
uint64_t quota_of_owner(const std::optional<uint64_t>& own, int64_t added, const KeepLimits& limits) {
  if (own) return *own;
  return limits.principal_quota_bytes == 0 ? 0 : limits.principal_quota_bytes + at_least_none(added);
}

std::optional<Held> held_by(catalog::Statements& statements, const KeepContext& context,
                            const Id& workspace) {
  return statements.one(
      "SELECT w.used_bytes, " SK_RECORD_BYTES
      ", w.quota_bytes, o.bytes, p.quota_bytes, p.quota_added_bytes FROM workspaces w JOIN workspace_usage u "
      "ON u.workspace = w.id JOIN principal_usage o ON o.principal = w.owner JOIN principals p ON p.id = "
      "w.owner WHERE w.id = $1",
      {workspace}, [&](const catalog::Row& row) {
        std::optional<uint64_t> own;
        if (!row.is_null(4)) own = at_least_none(row.integer(4));
        return Held{at_least_none(row.integer(0)), at_least_none(row.integer(1)),
                    at_least_none(row.integer(2)), at_least_none(row.integer(3)),
                    quota_of_owner(own, row.integer(5), context.limits)};
      });
}

Held need_held(catalog::Statements& statements, const KeepContext& context, const Id& workspace) {
  auto held = held_by(statements, context, workspace);
  if (!held) throw Error(Code::not_found, "the workspace was deleted");
  return *held;
}

Error over_quota(std::string_view who, uint64_t grown, uint64_t holds, uint64_t quota) {
  uint64_t before = holds - std::min(holds, grown);
  std::string figures = std::string(who) + human_size(before) + " of " + human_size(quota);
  return Error(Code::quota_exceeded,
               grown > 0 ? "this needs " + human_size(grown) + ", but " + figures
                         : figures +
                               ", with messages, executions, journal and the rows of files: no room "
                               "is left for more")
      .with("needed_bytes", static_cast<int64_t>(grown))
      .with("used_bytes", static_cast<int64_t>(before))
      .with("quota_bytes", static_cast<int64_t>(quota));
}

// `free_bytes`: room that is left above a full quota.
void check_quotas(const Held& held, uint64_t grown, uint64_t free_bytes) {
  if (held.counted() > held.quota + free_bytes)
    throw over_quota("the workspace holds ", grown, held.counted(), held.quota);
  if (held.owner_quota != 0 && held.owner_bytes > held.owner_quota + free_bytes)
    throw over_quota("the workspaces of its owner hold ", grown, held.owner_bytes, held.owner_quota)
        .with("quota_of", "principal");
}

void refuse_records(const Held& held, uint64_t grown) { check_quotas(held, grown, kFreeRecordBytes); }

Error at_limit(uint64_t has, uint64_t max, std::string_view what, Advice advice) {
  return Error(Code::quota_exceeded, "you have " + std::to_string(has) + " " + std::string(what) +
                                         ", and the limit is " + std::to_string(max))
      .with("count", static_cast<int64_t>(has))
      .with("limit", static_cast<int64_t>(max))
      .advise(advice);
}

}  // namespace

void count_contents(catalog::Tx& tx, const Id& workspace, int64_t bytes) {
  if (bytes == 0) return;
  tx.exec("UPDATE workspaces SET used_bytes = used_bytes + $2 WHERE id = $1", {workspace, bytes});
  tx.exec(
      "UPDATE principal_usage SET bytes = bytes + $2 WHERE principal = (SELECT owner FROM workspaces WHERE "
      "id = $1)",
      {workspace, bytes});
}

void FileRows::add_entry(int64_t path_bytes, int64_t count) {
  bytes += count * (kEntryRowBytes + 2 * path_bytes);
  entries += count;
}

void FileRows::add_places(int64_t path_bytes, int64_t count) {
  bytes += count * kPlaceRowBytes + 2 * path_bytes;
}

void FileRows::add_version(int64_t text_bytes, int64_t size, int64_t count) {
  bytes += count * (kVersionRowBytes + text_bytes);
  versions += count;
  version_bytes += count * size;
}

void FileRows::add_purged(int64_t count) {
  bytes += count * kPurgedRowBytes;
  purged += count;
}

void count_records(catalog::Tx& tx, const Id& workspace, RecordKind kind, Amount change,
                   const FileRows& rows) {
  if (!workspace || (change.bytes == 0 && change.count == 0 && rows == FileRows{})) return;
  auto of = [&](RecordKind wanted) { return kind == wanted ? change : Amount{}; };
  Amount messages = of(RecordKind::message), executions = of(RecordKind::execution);
  tx.exec(
      "UPDATE workspace_usage SET messages = messages + $2, message_bytes = message_bytes + $3, executions = "
      "executions + $4, execution_bytes = execution_bytes + $5, journal_bytes = journal_bytes + $6, entries "
      "= entries + $7, entry_bytes = entry_bytes + $8, versions = versions + $9, version_bytes = "
      "version_bytes + $10, purged = purged + $11 WHERE workspace = $1",
      {workspace, messages.count, messages.bytes, executions.count, executions.bytes,
       of(RecordKind::journal).bytes, rows.entries, rows.bytes, rows.versions, rows.version_bytes,
       rows.purged});
  tx.exec(
      "UPDATE principal_usage SET bytes = bytes + $2 WHERE principal = (SELECT owner FROM workspaces WHERE "
      "id = $1)",
      {workspace, change.bytes + rows.bytes});
}

void count_file_rows(catalog::Tx& tx, const Id& workspace, const FileRows& change) {
  count_records(tx, workspace, RecordKind::journal, {}, change);
}

void check_room_for_contents(catalog::Statements& statements, const KeepContext& context, const Id& workspace,
                             uint64_t grown_bytes) {
  check_quotas(need_held(statements, context, workspace), grown_bytes, 0);
}

void check_room_for_records(catalog::Statements& statements, const KeepContext& context, const Id& workspace,
                            uint64_t grown_bytes) {
  refuse_records(need_held(statements, context, workspace), grown_bytes);
}

bool has_room_for_records(catalog::Statements& statements, const KeepContext& context, const Id& workspace) {
  try {
    check_room_for_records(statements, context, workspace);
    return true;
  } catch (const Error& error) {
    if (error.code() != Code::quota_exceeded) throw;
    return false;
  }
}

void add_workspace(catalog::Tx& tx, const KeepContext& context, const Id& owner) {
  auto has = tx.one("SELECT workspaces FROM principal_usage WHERE principal = $1", {owner},
                    [](const catalog::Row& row) { return at_least_none(row.integer(0)); })
                 .value_or(0);
  uint64_t max = identity::Access::limits_of(tx, owner).workspaces_max.value_or(
      context.limits.workspaces_per_principal_max);
  if (has >= max)
    throw at_limit(has, max, "workspaces, those in the trash included", Advice::reuse_workspaces);
  tx.exec(
      "INSERT INTO principal_usage (principal, bytes, workspaces, sessions) VALUES ($1, 0, 1, 0) ON CONFLICT "
      "(principal) DO UPDATE SET workspaces = principal_usage.workspaces + 1",
      {owner});
}

void add_session(catalog::Tx& tx, const KeepContext& context, const Id& owner) {
  auto has = tx.one("SELECT sessions FROM principal_usage WHERE principal = $1", {owner},
                    [](const catalog::Row& row) { return at_least_none(row.integer(0)); })
                 .value_or(0);
  uint64_t max = identity::Access::limits_of(tx, owner).sessions_kept_max.value_or(
      context.limits.sessions_kept_per_principal_max);
  if (has >= max) throw at_limit(has, max, "sessions", Advice::delete_some_sessions);
  tx.exec("UPDATE principal_usage SET sessions = sessions + 1 WHERE principal = $1", {owner});
}

void drop_session(catalog::Tx& tx, const Id& owner) {
  tx.exec("UPDATE principal_usage SET sessions = sessions - 1 WHERE principal = $1", {owner});
}

void drop_workspace(catalog::Tx& tx, const Id& workspace) {
  struct Last {
    Id owner;
    int64_t bytes, purged;
  };
  auto last = tx.one("SELECT w.owner, w.used_bytes + " SK_RECORD_BYTES
                     ", u.purged FROM workspaces w JOIN workspace_usage u ON u.workspace = w.id WHERE w.id = "
                     "$1",
                     {workspace},
                     [](const catalog::Row& row) { return Last{row.id(0), row.integer(1), row.integer(2)}; });
  if (!last) throw Error(Code::internal, "the workspace has no figures");
  tx.exec("INSERT INTO purged_workspaces (workspace, owner, purged_us, versions) VALUES ($1, $2, $3, $4)",
          {workspace, last->owner, tx.now_us(), last->purged});
  tx.exec("UPDATE principal_usage SET bytes = bytes - $2, workspaces = workspaces - 1 WHERE principal = $1",
          {last->owner, last->bytes - (last->purged + 1) * kPurgedRowBytes});
  tx.exec("DELETE FROM workspace_usage WHERE workspace = $1", {workspace});
}

void Quotas::check_room_for_records(const Authority& authority, uint64_t bytes) {
  context_.db.read([&](catalog::Statements& statements) {
    Held held = need_held(statements, context_, authority.workspace_id());
    held.records += bytes;
    held.owner_bytes += bytes;
    refuse_records(held, bytes);
  });
}

std::optional<std::string> Quotas::why_no_room_for_records(const Authority& authority) {
  try {
    check_room_for_records(authority, 0);
    return std::nullopt;
  } catch (const Error& error) {
    if (error.code() != Code::quota_exceeded) throw;
    return error.message();
  }
}

uint64_t Quotas::room(const Authority& authority) {
  Held held = context_.db.read([&](catalog::Statements& statements) {
    return need_held(statements, context_, authority.workspace_id());
  });
  uint64_t room = held.quota - std::min(held.quota, held.counted());
  if (held.owner_quota == 0) return room;
  return std::min(room, held.owner_quota - std::min(held.owner_quota, held.owner_bytes));
}

namespace {

#define SK_USAGE_COLUMNS                                                                                \
  "u.messages, u.message_bytes, u.executions, u.execution_bytes, COALESCE(j.seq, 0), u.journal_bytes, " \
  "u.entries, u.entry_bytes, u.versions, u.version_bytes"
#define SK_USAGE_TABLES "workspace_usage u LEFT JOIN journals j ON j.workspace = u.workspace"

Amount read_amount(const catalog::Row& row) { return {row.integer(0), row.integer(1)}; }

void add_amount(Amount& to, const Amount& amount) {
  to.bytes += amount.bytes;
  to.count += amount.count;
}

// Adds the figures of SK_USAGE_COLUMNS, for both kinds of usage.
template <class Usage>
void add_figures(Usage& usage, const catalog::Row& row) {
  int column = 0;
  for (Amount* to : {&usage.messages, &usage.executions, &usage.journal, &usage.entries, &usage.versions}) {
    add_amount(*to, {row.integer(column + 1), row.integer(column)});
    column += 2;
  }
}

#define SK_PENDING_UPLOADS                                                                                   \
  "SELECT CAST(COALESCE(sum((SELECT sum(p.size) FROM upload_parts p WHERE p.upload = u.id)), 0) AS "         \
  "BIGINT), count(*) FROM uploads u JOIN workspaces w ON w.id = u.workspace WHERE u.status = 'pending' AND " \
  "u.expires_us > $2"

identity::PrincipalLimits applied_limits(const identity::PrincipalLimits& set, const KeepLimits& general,
                                         int64_t added, uint64_t sessions_max) {
  uint64_t quota = quota_of_owner(set.quota_bytes, added, general);
  return {.quota_bytes = set.quota_bytes || quota > 0 ? std::optional(quota) : std::nullopt,
          .workspaces_max = set.workspaces_max.value_or(general.workspaces_per_principal_max),
          .keys_max = set.keys_max.value_or(general.keys_per_principal_max),
          .sessions_max = set.sessions_max.value_or(sessions_max),
          .sessions_kept_max = set.sessions_kept_max.value_or(general.sessions_kept_per_principal_max)};
}

}  // namespace

WorkspaceUsage Quotas::of_workspace(const Authority& authority) {
  const Id& workspace = authority.workspace_id();
  if (authority.is_limited()) throw out_of_scope(authority, "");
  return context_.db.read([&](catalog::Statements& statements) {
    Held held = need_held(statements, context_, workspace);
    WorkspaceUsage usage;
    usage.quota_bytes = held.quota;
    usage.counted_bytes = held.counted();
    usage.contents = {static_cast<int64_t>(held.contents),
                      *statements.one("SELECT count(*) FROM workspace_blobs WHERE workspace = $1",
                                      {workspace}, [](const catalog::Row& row) { return row.integer(0); })};
    usage.trash = *statements.one(
        "SELECT CAST(COALESCE(sum(size), 0) AS BIGINT), count(*) FROM entries WHERE workspace = $1 AND "
        "trashed_us IS NOT NULL AND kind = 0",
        {workspace}, read_amount);
    usage.uploads = *statements.one(SK_PENDING_UPLOADS " AND w.id = $1", {workspace, context_.clock.now_us()},
                                    read_amount);
    statements.query("SELECT " SK_USAGE_COLUMNS " FROM " SK_USAGE_TABLES " WHERE u.workspace = $1",
                     {workspace}, [&](const catalog::Row& row) {
                       add_figures(usage, row);
                       return false;
                     });
    return usage;
  });
}

PrincipalUsage Quotas::of_principal(const Actor& actor, const Id& principal, uint64_t sessions_max) {
  if (actor.only_workspace())
    throw Error(Code::forbidden, "this key opens one workspace, and may only ask for the usage of that one");
  if (principal != actor.principal() && !actor.is_admin())
    throw Error(Code::forbidden, "only an administrator's key may see the usage of others");
  return context_.db.read([&](catalog::Statements& statements) {
    auto added = statements.one("SELECT quota_added_bytes FROM principals WHERE id = $1", {principal},
                                [](const catalog::Row& row) { return row.integer(0); });
    if (!added) throw Error(Code::not_found, "there is no such principal").advise(Advice::list_principals);
    PrincipalUsage usage;
    usage.principal = principal;
    usage.limits = applied_limits(identity::Access::limits_of(statements, principal), context_.limits, *added,
                                  sessions_max);
    statements.query("SELECT bytes, workspaces, sessions FROM principal_usage WHERE principal = $1",
                     {principal}, [&](const catalog::Row& row) {
                       usage.bytes = at_least_none(row.integer(0));
                       usage.workspaces = at_least_none(row.integer(1));
                       usage.sessions_kept = at_least_none(row.integer(2));
                       return false;
                     });
    const TimeUs now_us = context_.clock.now_us();
    usage.keys = identity::Access::valid_keys(statements, principal, now_us);
    statements.query("SELECT " SK_USAGE_COLUMNS
                     ", w.used_bytes, w.trashed_us, w.used_bytes + " SK_RECORD_BYTES " FROM " SK_USAGE_TABLES
                     " JOIN workspaces w ON w.id = u.workspace WHERE w.owner = $1",
                     {principal}, [&](const catalog::Row& row) {
                       add_figures(usage, row);
                       usage.contents_bytes += at_least_none(row.integer(10));
                       if (!row.is_null(11)) add_amount(usage.trashed_workspaces, {row.integer(12), 1});
                       return true;
                     });
    usage.uploads = *statements.one(SK_PENDING_UPLOADS " AND w.owner = $1", {principal, now_us}, read_amount);
    usage.purged_workspaces = *statements.one(
        "SELECT CAST(COALESCE(sum((versions + 1) * $2), 0) AS BIGINT), count(*) FROM purged_workspaces WHERE "
        "owner = $1",
        {principal, kPurgedRowBytes}, read_amount);
    return usage;
  });
}

}  // namespace sk::workspace
