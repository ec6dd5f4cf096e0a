#include "workspace/usage.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace sk::workspace {

namespace {

#define SK_RECORD_BYTES "u.message_bytes + u.execution_bytes + u.journal_bytes"

struct Held {
  uint64_t contents = 0, records = 0, quota = 0;
  uint64_t owner_bytes = 0, owner_quota = 0;  // a quota of 0: none

  uint64_t counted() const { return contents + records - std::min(records, kFreeRecordBytes); }
};

// A figure that a bug made negative must not look like an enormous one.
uint64_t at_least_none(int64_t figure) { return static_cast<uint64_t>(std::max<int64_t>(0, figure)); }

std::optional<Held> held_by(catalog::Statements& statements, const KeepContext& context,
                            const Id& workspace) {
  return statements.one(
      "SELECT w.used_bytes, " SK_RECORD_BYTES
      ", w.quota_bytes, o.bytes, p.quota_bytes FROM workspaces w JOIN workspace_usage u ON u.workspace = "
      "w.id JOIN principal_usage o ON o.principal = w.owner JOIN principals p ON p.id = w.owner WHERE w.id = "
      "$1",
      {workspace}, [&](const catalog::Row& row) {
        return Held{at_least_none(row.integer(0)), at_least_none(row.integer(1)),
                    at_least_none(row.integer(2)), at_least_none(row.integer(3)),
                    at_least_none(row.maybe_integer(4).value_or(
                        static_cast<int64_t>(context.limits.principal_quota_bytes)))};
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
                         : figures + ", with messages, executions and journal: no room is left for more")
      .with("needed_bytes", static_cast<int64_t>(grown))
      .with("used_bytes", static_cast<int64_t>(before))
      .with("quota_bytes", static_cast<int64_t>(quota));
}

void check_owner(const Held& held, uint64_t grown) {
  if (held.owner_quota != 0 && held.owner_bytes > held.owner_quota)
    throw over_quota("the workspaces of its owner hold ", grown, held.owner_bytes, held.owner_quota)
        .with("quota_of", "principal");
}

void refuse_records(const Held& held, uint64_t grown) {
  if (held.records > kFreeRecordBytes && held.counted() > held.quota)
    throw over_quota("the workspace holds ", grown, held.counted(), held.quota);
  check_owner(held, grown);
}

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

void count_records(catalog::Tx& tx, const Id& workspace, RecordKind kind, Amount change) {
  if (!workspace || (change.bytes == 0 && change.count == 0)) return;
  auto of = [&](RecordKind wanted) { return kind == wanted ? change : Amount{}; };
  Amount messages = of(RecordKind::message), executions = of(RecordKind::execution);
  tx.exec(
      "UPDATE workspace_usage SET messages = messages + $2, message_bytes = message_bytes + $3, executions = "
      "executions + $4, execution_bytes = execution_bytes + $5, journal_bytes = journal_bytes + $6 WHERE "
      "workspace = $1",
      {workspace, messages.count, messages.bytes, executions.count, executions.bytes,
       of(RecordKind::journal).bytes});
  tx.exec(
      "UPDATE principal_usage SET bytes = bytes + $2 WHERE principal = (SELECT owner FROM workspaces WHERE "
      "id = $1)",
      {workspace, change.bytes});
}

void check_room_for_contents(catalog::Statements& statements, const KeepContext& context, const Id& workspace,
                             uint64_t grown_bytes) {
  Held held = need_held(statements, context, workspace);
  if (held.counted() > held.quota)
    throw over_quota("the workspace holds ", grown_bytes, held.counted(), held.quota);
  check_owner(held, grown_bytes);
}

void check_room_for_records(catalog::Statements& statements, const KeepContext& context, const Id& workspace,
                            uint64_t grown_bytes) {
  refuse_records(need_held(statements, context, workspace), grown_bytes);
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

WorkspaceUsage Quotas::of_workspace(const Authority& authority) {
  const Id& workspace = authority.workspace_id();
  if (authority.is_limited()) throw out_of_scope(authority, "");
  auto amount = [](const catalog::Row& row) { return Amount{row.integer(0), row.integer(1)}; };
  return context_.db.read([&](catalog::Statements& statements) {
    Held held = need_held(statements, context_, workspace);
    WorkspaceUsage usage;
    usage.quota_bytes = held.quota;
    usage.counted_bytes = held.counted();
    usage.contents = {static_cast<int64_t>(held.contents),
                      *statements.one("SELECT count(*) FROM workspace_blobs WHERE workspace = $1",
                                      {workspace}, [](const catalog::Row& row) { return row.integer(0); })};
    // Two searches, because each index has either the live entries or the trashed ones.
    Amount live = *statements.one(
        "SELECT CAST(COALESCE(sum(v.size), 0) AS BIGINT), count(*) FROM entries e JOIN versions v ON v.file "
        "= "
        "e.id WHERE e.workspace = $1 AND e.trashed_us IS NULL",
        {workspace}, amount);
    Amount trashed = *statements.one(
        "SELECT CAST(COALESCE(sum(v.size), 0) AS BIGINT), count(*) FROM entries e JOIN versions v ON v.file "
        "= "
        "e.id WHERE e.workspace = $1 AND e.trashed_us IS NOT NULL",
        {workspace}, amount);
    usage.versions = {live.bytes + trashed.bytes, live.count + trashed.count};
    usage.trash = *statements.one(
        "SELECT CAST(COALESCE(sum(size), 0) AS BIGINT), count(*) FROM entries WHERE workspace = $1 AND "
        "trashed_us IS NOT NULL AND kind = 0",
        {workspace}, amount);
    statements.query(
        "SELECT u.messages, u.message_bytes, u.executions, u.execution_bytes, u.journal_bytes, "
        "COALESCE(j.seq, 0) FROM workspace_usage u LEFT JOIN journals j ON j.workspace = u.workspace WHERE "
        "u.workspace = $1",
        {workspace}, [&](const catalog::Row& row) {
          usage.messages = {row.integer(1), row.integer(0)};
          usage.executions = {row.integer(3), row.integer(2)};
          usage.journal = {row.integer(4), row.integer(5)};
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
    if (!identity::Access::has_principal(statements, principal))
      throw Error(Code::not_found, "there is no such principal").advise(Advice::list_principals);
    PrincipalUsage usage;
    usage.principal = principal;
    auto set = identity::Access::limits_of(statements, principal);
    const KeepLimits& general = context_.limits;
    usage.limits = {
        .quota_bytes = set.quota_bytes                     ? set.quota_bytes
                       : general.principal_quota_bytes > 0 ? std::optional(general.principal_quota_bytes)
                                                           : std::nullopt,
        .workspaces_max = set.workspaces_max.value_or(general.workspaces_per_principal_max),
        .keys_max = set.keys_max.value_or(general.keys_per_principal_max),
        .sessions_max = set.sessions_max.value_or(sessions_max),
        .sessions_kept_max = set.sessions_kept_max.value_or(general.sessions_kept_per_principal_max)};
    statements.query("SELECT bytes, workspaces, sessions FROM principal_usage WHERE principal = $1",
                     {principal}, [&](const catalog::Row& row) {
                       usage.bytes = at_least_none(row.integer(0));
                       usage.workspaces = at_least_none(row.integer(1));
                       usage.sessions_kept = at_least_none(row.integer(2));
                       return false;
                     });
    usage.keys = identity::Access::valid_keys(statements, principal, context_.clock.now_us());
    statements.query(
        "SELECT w.used_bytes, w.trashed_us, u.messages, u.message_bytes, u.executions, u.execution_bytes, "
        "u.journal_bytes, COALESCE(j.seq, 0) FROM workspaces w JOIN workspace_usage u ON u.workspace = w.id "
        "LEFT JOIN journals j ON j.workspace = w.id WHERE w.owner = $1",
        {principal}, [&](const catalog::Row& row) {
          usage.contents_bytes += at_least_none(row.integer(0));
          if (!row.is_null(1)) ++usage.workspaces_in_trash;
          auto add = [&](Amount& to, int bytes, int count) {
            to.bytes += row.integer(bytes);
            to.count += row.integer(count);
          };
          add(usage.messages, 3, 2);
          add(usage.executions, 5, 4);
          add(usage.journal, 6, 7);
          return true;
        });
    return usage;
  });
}

}  // namespace sk::workspace
