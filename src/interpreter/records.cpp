#include "interpreter/records.h"

#include <algorithm>

#include "interpreter/record_rows.h"
#include "workspace/journal.h"
#include "workspace/usage.h"

namespace sk::interpreter {

namespace {

// Runs a write of the session's owner.
template <class F>
void write_as_owner(catalog::Database& db, const SessionInfo& session, F f,
                    catalog::Survives survives = catalog::Survives::power_cut) {
  db.write(
      session.key().scope(),
      [&](catalog::Tx& tx) {
        check_owner(tx, session.key());
        f(tx);
      },
      survives);
}

}  // namespace

void check_owner(catalog::Tx& tx, const SessionKey& session) {
  if (!tx.exists("SELECT 1 FROM sessions WHERE id = $1 AND epoch = $2", {session.id, session.epoch}))
    throw Error(Code::conflict, "another owner has taken over the session, so this was not written");
}

bool is_of(const SessionInfo& session, const workspace::Actor& actor) {
  return session.owner == actor.principal() &&
         (!actor.only_workspace() || *actor.only_workspace() == session.workspace);
}

bool is_of(const SessionInfo& session, const workspace::Authority& authority) {
  return session.workspace == authority.workspace_id() && is_of(session, authority.actor()) &&
         authority.covers(session.folder);
}

Json to_json(const KeptFile& file) {
  return {{"path", file.path},
          {"file", file.file.hex()},
          {"version", file.version.hex()},
          {"size", file.size},
          {"sha256", file.sha256.hex()},
          {"mime", file.mime},
          {"change", name_of(file.change)},
          {"complete", file.complete},
          {"diverged", file.diverged},
          {"locked", file.locked}};
}

KeptFile kept_file_from(const Json& json) {
  KeptFile file;
  file.path = json.at("path");
  file.file = *Id::from_hex(json.at("file").get<std::string>());
  file.version = *Id::from_hex(json.at("version").get<std::string>());
  file.size = json.at("size");
  file.sha256 = *Sha256::from_hex(json.at("sha256").get<std::string>());
  file.mime = json.at("mime");
  file.change = kept_change_from(json.at("change").get<std::string>()).value_or(KeptChange::changed);
  file.complete = json.at("complete");
  file.diverged = json.at("diverged");
  file.locked = json.at("locked");
  return file;
}

void Records::insert(const workspace::Authority& authority, const SessionInfo& session) {
  context_.db.write(session.key().scope(), [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, workspace::Right::write);
    tx.exec(
        "INSERT INTO sessions (" SK_SESSION_COLUMNS
        ", dirty, copy_identity, synced_seq, copy_boot, node) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, "
        "$10, $11, $12, $13, $14, NULL, $15, $16, 1, '', 0, '', $17)",
        {session.id, session.workspace, session.folder, session.name, session.owner, session.memory_bytes,
         session.timeout_s, session.idle_s, session.runtime, to_text(session.environment),
         to_text(session.labels), session.execution_count, session.created_us, session.active_us,
         session.awake_max_s, session.epoch, context_.node});
    workspace::add_session(tx, context_, session.owner);
    auto bytes = *tx.one("SELECT bytes FROM session_sizes WHERE session = $1", {session.id},
                         [](const catalog::Row& row) { return row.integer(0); });
    workspace::count_records(tx, session.workspace, workspace::RecordKind::execution, {bytes, 0});
    workspace::check_room_for_records(tx, context_, session.workspace, static_cast<uint64_t>(bytes));
    workspace::Journal::append(tx, context_, session.workspace, authority.author(), "session.create",
                               {{"session_id", session.id.with_prefix(workspace::prefix::session)},
                                {"memory_bytes", session.memory_bytes}},
                               {{"name", session.name}, {"folder", session.folder}});
  });
}

void Records::claim(SessionInfo& session) {
  // Not synced: if a power cut takes it, it took the owner, too.
  session.epoch = context_.db.write(
      session.key().scope(),
      [&](catalog::Tx& tx) {
        auto epoch = tx.one(
            "UPDATE sessions SET epoch = epoch + 1, node = $2 WHERE id = $1 AND deleted_us IS NULL RETURNING "
            "epoch",
            {session.id, context_.node}, [](const catalog::Row& row) { return row.integer(0); });
        if (!epoch) throw Error(Code::not_found, "there is no such session any more");
        return *epoch;
      },
      catalog::Survives::kill);
}

std::optional<SessionInfo> Records::find(const Id& session) {
  return context_.db.read([&](catalog::Statements& statements) {
    return statements.one("SELECT " SK_SESSION_VALUES " FROM sessions WHERE id = $1", {session},
                          read_session);
  });
}

#define SK_LISTED_SESSIONS                                                                         \
  "SELECT " SK_SESSION_VALUES                                                                      \
  " FROM sessions WHERE owner = $1 AND deleted_us IS NULL AND ($2 IS NULL OR workspace = $2) AND " \
  "($3 = '' OR name = $3)"

std::vector<SessionInfo> Records::list(const Id& owner, const std::optional<Id>& workspace,
                                       const SessionQuery& query) {
  Id after = query.after;
  if (!after && query.order == workspace::Order::newest_first) after.bytes.fill(std::byte{0xff});
  return context_.db.read([&](catalog::Statements& statements) {
    return query.order == workspace::Order::newest_first
               ? statements.all(SK_LISTED_SESSIONS " AND id < $4 ORDER BY id DESC LIMIT $5",
                                {owner, workspace, query.name, after, query.limit}, read_session)
               : statements.all(SK_LISTED_SESSIONS " AND id > $4 ORDER BY id LIMIT $5",
                                {owner, workspace, query.name, after, query.limit}, read_session);
  });
}

std::unordered_map<Id, size_t> Records::count_by_owner() {
  std::unordered_map<Id, size_t> out;
  context_.db.read([&](catalog::Statements& statements) {
    statements.query("SELECT owner, count(*) FROM sessions WHERE deleted_us IS NULL GROUP BY owner", {},
                     [&](const catalog::Row& row) {
                       out[row.id(0)] = static_cast<size_t>(row.integer(1));
                       return true;
                     });
  });
  return out;
}

std::vector<SessionInfo> Records::dirty_sessions() {
  return context_.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT " SK_SESSION_VALUES " FROM sessions WHERE dirty = 1 AND " SK_OF_NODE,
                          {context_.node}, read_session);
  });
}

std::vector<SessionInfo> Records::sessions_with_copies(TimeUs unused_since_us, size_t limit) {
  return context_.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT " SK_SESSION_VALUES
                          " FROM sessions WHERE dirty = 0 AND copy_identity <> '' AND deleted_us IS NULL "
                          "AND active_us < $2 AND " SK_OF_NODE " ORDER BY active_us LIMIT $3",
                          {context_.node, unused_since_us, limit}, read_session);
  });
}

void Records::mark_deleted(const workspace::Authority& by, const SessionInfo& session, TimeUs now_us) {
  const workspace::Author owner(session.owner, "");
  write_as_owner(context_.db, session, [&](catalog::Tx& tx) {
    check_key_still_holds(tx, by);
    // Its record stays for its executions, so their bytes still count.
    if (tx.exec("UPDATE sessions SET deleted_us = $2, dirty = 0 WHERE id = $1 AND deleted_us IS NULL",
                {session.id, now_us}) > 0)
      workspace::drop_session(tx, session.owner);
    tx.exec("DELETE FROM manifests WHERE session = $1", {session.id});
    tx.exec("DELETE FROM unkept WHERE session = $1", {session.id});
    workspace::Journal::append(tx, context_, session.workspace, owner, "session.delete",
                               {{"session_id", session.id.with_prefix(workspace::prefix::session)}},
                               {{"name", session.name}, {"folder", session.folder}});
  });
}

void Records::tell(const SessionInfo& session, std::string_view kind, TimeUs expires_us) {
  const workspace::Author owner(session.owner, "");
  write_as_owner(context_.db, session, [&](catalog::Tx& tx) {
    workspace::Journal::append(tx, context_, session.workspace, owner, kind,
                               {{"session_id", session.id.with_prefix(workspace::prefix::session)},
                                {"expires_at", to_iso8601(expires_us)}},
                               {{"name", session.name}, {"folder", session.folder}});
  });
}

void Records::save_activity(const SessionInfo& session, TimeUs active_us, int64_t execution_count) {
  write_as_owner(context_.db, session, [&](catalog::Tx& tx) {
    tx.exec("UPDATE sessions SET active_us = $2, execution_count = $3 WHERE id = $1",
            {session.id, active_us, execution_count});
  });
}

CopyState Records::copy_state(const Id& session) {
  return context_.db
      .read([&](catalog::Statements& statements) {
        return statements.one(
            "SELECT dirty, copy_identity, synced_seq, copy_boot FROM sessions WHERE id = $1", {session},
            [](const catalog::Row& row) {
              return CopyState{row.integer(0) != 0, row.str(1), row.integer(2), row.str(3)};
            });
      })
      .value_or(CopyState{});
}

void Records::forget_copy(const SessionInfo& session) {
  write_as_owner(context_.db, session, [&](catalog::Tx& tx) {
    tx.exec("UPDATE sessions SET copy_identity = '', synced_seq = 0, copy_boot = '' WHERE id = $1",
            {session.id});
    tx.exec("DELETE FROM manifests WHERE session = $1", {session.id});
  });
}

void Records::mark_copies_synced() {
  auto workspaces = context_.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT DISTINCT workspace FROM sessions WHERE copy_boot <> '' AND " SK_OF_NODE,
                          {context_.node}, [](const catalog::Row& row) { return row.id(0); });
  });
  for (const Id& workspace : workspaces)
    context_.db.write(catalog::Scope::workspace(workspace), [&](catalog::Tx& tx) {
      tx.exec("UPDATE sessions SET copy_boot = '' WHERE workspace = $2 AND copy_boot <> '' AND " SK_OF_NODE,
              {context_.node, workspace});
    });
}

namespace {

// Leaves out items that were settled without the session: purged versions, and versions kept aside whose
// bytes became the head since, by a restore or from the trash.
#define SK_UNKEPT_IS_OPEN                                                                                  \
  "(what = 'refused' OR EXISTS (SELECT 1 FROM versions v JOIN entries e ON e.id = v.file WHERE "           \
  "v.id = unkept.version AND (what <> 'aside' OR NOT (v.head_us IS NOT NULL AND (e.trashed_us IS NULL OR " \
  "e.trashed_us <> v.created_us) OR EXISTS (SELECT 1 FROM versions w WHERE w.file = v.file AND "           \
  "w.number > v.number AND w.sha256 = v.sha256 AND w.head_us IS NOT NULL)))))"

}  // namespace

void Records::add_unkept(catalog::Tx& tx, const Id& session, const std::vector<Unkept>& items) {
  for (const auto& item : items)
    tx.exec("INSERT INTO unkept (session, " SK_UNKEPT_COLUMNS
            ", since_us, told) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0) ON CONFLICT (session, path, what) "
            "DO UPDATE SET reason = excluded.reason, message = excluded.message, version = excluded.version, "
            "only_copy = excluded.only_copy, since_us = excluded.since_us, told = 0",
            {session, item.path, name_of(item.what), name_of(item.reason), item.message,
             item.version ? catalog::Param(item.version) : catalog::Param(nullptr), item.only_copy ? 1 : 0,
             tx.now_us()});
}

void Records::save_refused(const SessionInfo& session, const std::vector<Unkept>& refused) {
  write_as_owner(context_.db, session, [&](catalog::Tx& tx) {
    tx.exec("DELETE FROM unkept WHERE session = $1 AND what = 'refused'", {session.id});
    add_unkept(tx, session.id, refused);
    auto only_copies = std::ranges::count_if(refused, &Unkept::only_copy);
    tx.exec("UPDATE sessions SET only_copies = $2 WHERE id = $1", {session.id, only_copies});
  });
}

size_t Records::count_with_only_copies(const SessionInfo& besides) {
  return context_.db.read([&](catalog::Statements& statements) {
    return *statements.one(
        "SELECT count(*) FROM sessions WHERE owner = $1 AND only_copies > 0 AND deleted_us IS NULL AND id <> "
        "$2",
        {besides.owner, besides.id},
        [](const catalog::Row& row) { return static_cast<size_t>(row.integer(0)); });
  });
}

std::vector<Unkept> Records::unkept(const Id& session) {
  return context_.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT " SK_UNKEPT_COLUMNS " FROM unkept WHERE session = $1 AND " SK_UNKEPT_IS_OPEN
                          " ORDER BY path, what",
                          {session}, read_unkept);
  });
}

std::vector<Unkept> Records::unkept(const Id& session, const UnkeptPlace& after, size_t limit) {
  return context_.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT " SK_UNKEPT_COLUMNS " FROM unkept WHERE session = $1 AND " SK_UNKEPT_IS_OPEN
                          " AND (path, what) > ($2, $3) ORDER BY path, what LIMIT $4",
                          {session, after.path, after.what ? name_of(*after.what) : "", limit}, read_unkept);
  });
}

bool Records::forget_unkept(const workspace::Authority& by, const SessionInfo& session, const Unkept& item) {
  return context_.db.write(session.key().scope(), [&](catalog::Tx& tx) {
    check_key_still_holds(tx, by);
    return tx.exec("DELETE FROM unkept WHERE session = $1 AND path = $2 AND what = $3 AND version = $4",
                   {session.id, item.path, name_of(item.what), item.version}) > 0;
  });
}

void Records::forget_aside(catalog::Tx& tx, const Id& session, const KeptFile& kept) {
  tx.exec(
      "DELETE FROM unkept WHERE session = $1 AND what = 'aside' AND (path = $2 OR version IN (SELECT id FROM "
      "versions WHERE file = $3))",
      {session, kept.path, kept.file});
}

void Records::forget_aside(const SessionInfo& session, const std::string& path) {
  KeptFile gone;
  gone.path = path;
  write_as_owner(context_.db, session, [&](catalog::Tx& tx) { forget_aside(tx, session.id, gone); });
}

void Records::explain_unkept(const SessionInfo& session, const Unkept& item) {
  context_.db.write(session.key().scope(), [&](catalog::Tx& tx) {
    tx.exec(
        "UPDATE unkept SET reason = $5, message = $6 WHERE session = $1 AND path = $2 AND what = $3 AND "
        "version = $4",
        {session.id, item.path, name_of(item.what), item.version, name_of(item.reason), item.message});
  });
}

std::vector<Unkept> Records::untold(const Id& session) {
  return context_.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT " SK_UNKEPT_COLUMNS
                          " FROM unkept WHERE session = $1 AND what = 'recovered' AND told = 0 ORDER BY path",
                          {session}, read_unkept);
  });
}

void Records::mark_told(const SessionInfo& session) {
  write_as_owner(context_.db, session, [&](catalog::Tx& tx) {
    tx.exec("UPDATE unkept SET told = 1 WHERE session = $1 AND what = 'recovered' AND told = 0",
            {session.id});
  });
}

void Records::save_copy_state(const SessionInfo& session, const CopyState& state) {
  write_as_owner(context_.db, session, [&](catalog::Tx& tx) {
    tx.exec(
        "UPDATE sessions SET dirty = $2, copy_identity = $3, synced_seq = $4, copy_boot = $5 WHERE id = $1",
        {session.id, state.dirty ? 1 : 0, state.identity, state.synced_seq, state.boot});
  });
}

namespace {

// Counts for the workspace by how much executions grow until settle(), without the files that they kept.
class ExecutionGrowth {
 public:
  ExecutionGrowth(catalog::Tx& tx, const Id& workspace, const Id& execution)
      : tx_(tx), workspace_(workspace), execution_(execution), before_(now()) {}
  void settle() {
    workspace::Amount after = now();
    workspace::count_records(tx_, workspace_, workspace::RecordKind::execution,
                             {after.bytes - before_.bytes, after.count - before_.count});
  }

 private:
  workspace::Amount now() {
    return tx_
        .one("SELECT bytes FROM execution_sizes WHERE execution = $1", {execution_},
             [](const catalog::Row& row) { return workspace::Amount{row.integer(0), 1}; })
        .value_or(workspace::Amount{});
  }

  catalog::Tx& tx_;
  const Id workspace_, execution_;
  const workspace::Amount before_;
};

void insert_files(catalog::Tx& tx, const Id& workspace, const Id& execution,
                  const std::vector<KeptFile>& kept) {
  int64_t seq = tx.one("SELECT MAX(seq) FROM execution_files WHERE execution = $1", {execution},
                       [](const catalog::Row& row) { return row.maybe_integer(0).value_or(0); })
                    .value_or(0);
  int64_t bytes = 0;
  for (const auto& file : kept) {
    std::string detail = to_text(to_json(file));
    tx.exec("INSERT INTO execution_files (execution, seq, detail) VALUES ($1, $2, $3)",
            {execution, ++seq, detail});
    bytes += static_cast<int64_t>(detail.size()) + workspace::kRowBytes;
  }
  workspace::count_records(tx, workspace, workspace::RecordKind::execution, {bytes, 0});
}

void delete_files(catalog::Tx& tx, const Id& workspace, const Id& execution) {
  auto bytes =
      *tx.one("SELECT CAST(COALESCE(sum(bytes), 0) AS BIGINT) FROM execution_file_sizes WHERE execution = $1",
              {execution}, [](const catalog::Row& row) { return row.integer(0); });
  if (bytes == 0) return;
  tx.exec("DELETE FROM execution_files WHERE execution = $1", {execution});
  workspace::count_records(tx, workspace, workspace::RecordKind::execution, {-bytes, 0});
}

// Returns the text without U+0000, which the catalog cannot store. Replaces it with its symbol, U+2400: a
// record with a replaced character is better than none, and a cell that contains it fails anyway.
std::string without_nul(const std::string& text) {
  std::string out;
  for (char c : text)
    if (c == '\0')
      out += "\u2400";
    else
      out += c;
  return out;
}

// Longer outputs have a row of their own.
constexpr size_t kOutputsInDetailBytesMax = 2 << 10;

// Inserts or updates a record. A finished execution stays finished, because the saves of a running one may
// arrive late. `key` is written once, with the first record of an execution.
void upsert_execution(catalog::Tx& tx, const Id& node, const Id& workspace, const Execution& execution,
                      const std::optional<std::string>& request,
                      const std::optional<std::string>& key = std::nullopt) {
  Json detail = detail_of(execution), outputs = stored_outputs(execution.outputs);
  std::string long_outputs = to_text(outputs);
  if (long_outputs.size() <= kOutputsInDetailBytesMax) {
    detail["outputs"] = std::move(outputs);
    long_outputs.clear();
  }
  ExecutionGrowth growth(tx, workspace, execution.id);
  size_t written = tx.exec(
      "INSERT INTO executions (" SK_EXECUTION_COLUMNS
      ", request, idempotency_key, node) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, "
      "$14, "
      "$15) "
      "ON CONFLICT (id) DO UPDATE SET status = excluded.status, outcome = excluded.outcome, detail = "
      "excluded.detail, started_us = excluded.started_us, ended_us = excluded.ended_us, request = "
      "excluded.request, node = excluded.node WHERE executions.status <> 'done' OR excluded.status = 'done'",
      {execution.id, execution.session, execution.number, execution.author, execution.language,
       without_nul(execution.code), name_of(execution.status), outcome_name(execution), to_text(detail),
       execution.created_us, execution.started_us, execution.ended_us, request, key, node});
  if (written == 0) return;  // it is done already
  if (long_outputs.empty())
    tx.exec("DELETE FROM execution_outputs WHERE execution = $1", {execution.id});
  else
    tx.exec(
        "INSERT INTO execution_outputs (execution, outputs) VALUES ($1, $2) ON CONFLICT (execution) "
        "DO UPDATE SET outputs = excluded.outputs WHERE execution_outputs.outputs <> excluded.outputs",
        {execution.id, long_outputs});
  growth.settle();
}

}  // namespace

void Records::save(const SessionInfo& session, const Execution& execution, catalog::Survives survives) {
  auto write = [&](catalog::Tx& tx) {
    upsert_execution(tx, context_.node, session.workspace, execution, std::nullopt);
    // The files of a running execution are recorded with their versions.
    if (execution.status != ExecutionStatus::done) return;
    // For a file that was kept several times during the run, the last one counts.
    delete_files(tx, session.workspace, execution.id);
    insert_files(tx, session.workspace, execution.id, execution.files.kept);
  };
  write_as_owner(context_.db, session, write, survives);
}

void Records::save(catalog::Tx& tx, const SessionInfo& session, const Execution& execution,
                   const std::vector<KeptFile>& kept) {
  upsert_execution(tx, context_.node, session.workspace, execution, std::nullopt);
  insert_files(tx, session.workspace, execution.id, kept);
}

void Records::save_accepted(const workspace::Authority& authority, const SessionInfo& session,
                            const Execution& execution, const NewExecution& wanted) {
  Json request = Json::object();
  if (!wanted.tools.empty()) request["tools"] = wanted.tools;
  if (wanted.timeout_s) request["timeout_s"] = *wanted.timeout_s;
  if (!wanted.base_url.empty()) request["base_url"] = wanted.base_url;
  if (const Id& key = authority.actor().key()) request["key"] = key.hex();
  if (authority.is_limited()) request["path_scope"] = authority.path_scope();
  auto key = wanted.idempotency_key.empty() ? std::nullopt : std::optional(wanted.idempotency_key);
  write_as_owner(context_.db, session, [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, workspace::Right::write);
    upsert_execution(tx, context_.node, session.workspace, execution, to_text(request), key);
  });
}

std::vector<AcceptedExecution> Records::accepted() {
  return context_.db.read([&](catalog::Statements& statements) {
    return statements.all(
        "SELECT " SK_EXECUTION_READ
        ", request FROM executions WHERE status = 'queued' AND request IS NOT NULL AND " SK_OF_NODE
        " ORDER BY created_us, number",
        {context_.node}, [](const catalog::Row& row) {
          AcceptedExecution one{read_execution(row), {}, {}, {}};
          Json request = Json::parse(row.text(ExecutionColumn::count));
          one.wanted.code = one.execution.code;
          one.wanted.language = one.execution.language;
          // Earlier servers wrote a bool here, and offered the tools in the code itself.
          if (auto tools = request.find("tools"); tools != request.end() && tools->is_string())
            one.wanted.tools = *tools;
          one.wanted.base_url = request.value("base_url", "");
          one.key = Id::from_hex(request.value("key", "")).value_or(Id{});
          one.path_scope = request.value("path_scope", "");
          if (request.contains("timeout_s")) one.wanted.timeout_s = request["timeout_s"].get<int64_t>();
          return one;
        });
  });
}

std::optional<Execution> Records::find_execution(const Id& session, const Id& execution) {
  auto found = context_.db.read([&](catalog::Statements& statements) {
    return statements.one("SELECT " SK_EXECUTION_READ " FROM executions WHERE id = $1 AND session = $2",
                          {execution, session}, read_execution);
  });
  if (found) found->files.kept = kept_files(execution, 0, 1'000'000);
  return found;
}

std::optional<Execution> Records::find_by_key(const Id& session, const std::string& key, TimeUs since_us) {
  auto found = context_.db.read([&](catalog::Statements& statements) {
    return statements.one("SELECT " SK_EXECUTION_READ
                          " FROM executions WHERE session = $1 AND idempotency_key = $2 AND created_us >= $3 "
                          "ORDER BY created_us DESC LIMIT 1",
                          {session, key, since_us}, read_execution);
  });
  if (found) found->files.kept = kept_files(found->id, 0, 1'000'000);
  return found;
}

workspace::Page<Execution> Records::list_executions(const Id& session, int64_t before,
                                                    const PageLimit& limit) {
  if (before == 0) before = INT64_MAX;
  return context_.db.read([&](catalog::Statements& statements) {
    // The sizes come first, since a page of long outputs would need much memory before it could be cut.
    auto sizes = statements.all(
        "SELECT octet_length(code) + octet_length(detail) + COALESCE((SELECT octet_length(o.outputs) FROM "
        "execution_outputs o WHERE o.execution = executions.id), 0) FROM executions WHERE session = $1 AND "
        "number < $2 ORDER BY number DESC LIMIT $3",
        {session, before, limit.count + 1},
        [](const catalog::Row& row) { return static_cast<size_t>(row.integer(0)); });
    size_t count = 0, bytes = 0;
    while (count < std::min(sizes.size(), limit.count) && bytes < limit.bytes) bytes += sizes[count++];
    workspace::Page<Execution> page;
    page.items =
        statements.all("SELECT " SK_EXECUTION_READ
                       " FROM executions WHERE session = $1 AND number < $2 ORDER BY number DESC LIMIT $3",
                       {session, before, count}, read_execution);
    page.has_more = count < sizes.size();
    if (page.has_more) page.next_cursor = std::to_string(page.items.back().number);
    return page;
  });
}

std::vector<Execution> Records::executions_after(const Id& session, int64_t after, size_t limit) {
  return context_.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT " SK_EXECUTION_READ
                          " FROM executions WHERE session = $1 AND number > $2 ORDER BY number LIMIT $3",
                          {session, after, limit}, read_execution);
  });
}

std::vector<KeptFile> Records::kept_files(const Id& execution, int64_t after, size_t limit) {
  return context_.db.read([&](catalog::Statements& statements) {
    return statements.all(
        "SELECT detail FROM execution_files WHERE execution = $1 AND seq > $2 ORDER BY seq LIMIT $3",
        {execution, after, limit},
        [](const catalog::Row& row) { return kept_file_from(Json::parse(row.text(0))); });
  });
}

#define SK_INTERRUPTED \
  "x.status <> 'done' AND (x.status <> 'queued' OR x.request IS NULL) AND (x.node = $1 OR x.node IS NULL)"

void Records::end_interrupted_executions(TimeUs now_us) {
  auto workspaces = context_.db.read([&](catalog::Statements& statements) {
    return statements.all(
        "SELECT s.workspace FROM executions x JOIN sessions s ON s.id = x.session WHERE " SK_INTERRUPTED
        " UNION SELECT workspace FROM sessions WHERE dirty = 1 AND " SK_OF_NODE,
        {context_.node}, [](const catalog::Row& row) { return row.id(0); });
  });
  for (const Id& workspace : workspaces)
    context_.db.write(catalog::Scope::workspace(workspace),
                      [&](catalog::Tx& tx) { end_interrupted(tx, workspace, now_us); });
}

void Records::end_interrupted(catalog::Tx& tx, const Id& workspace, TimeUs now_us) {
  auto left = tx.all(
      "SELECT x.id, x.detail FROM executions x JOIN sessions s ON s.id = x.session WHERE s.workspace = $2 "
      "AND " SK_INTERRUPTED,
      {context_.node, workspace},
      [](const catalog::Row& row) { return std::pair(row.id(0), Json::parse(row.text(1))); });
  for (auto& [id, detail] : left) {
    detail["message"] =
        "the server was stopped while this ran; files that were closed by then are kept, the last output "
        "may be missing";
    ExecutionGrowth growth(tx, workspace, id);
    tx.exec(
        "UPDATE executions SET status = 'done', outcome = 'crash', ended_us = $2, detail = $3 WHERE id = $1",
        {id, now_us, to_text(detail)});
    growth.settle();
  }
  // The dead server did not write either when its sessions were last used; their executions give the time.
  tx.exec(
      "UPDATE sessions SET active_us = COALESCE((SELECT MAX(x.ended_us) FROM executions x WHERE x.session = "
      "sessions.id AND x.ended_us > sessions.active_us), active_us) WHERE dirty = 1 AND workspace = $2 "
      "AND " SK_OF_NODE,
      {context_.node, workspace});
}

}  // namespace sk::interpreter
