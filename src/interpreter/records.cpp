#include "interpreter/records.h"

#include "workspace/journal.h"

namespace sk::interpreter {

namespace {

// How the detail of an execution that woke its session begins: a query can ask for that.
#define SK_WOKE "{\"woke\":true"

#define SK_SESSION_COLUMNS                                                                              \
  "id, workspace, folder, name, owner, memory_bytes, timeout_s, idle_s, runtime, environment, labels, " \
  "execution_count, created_us, active_us, deleted_us, awake_max_s"
// A server that died has not written how many executions there were; their own records tell.
#define SK_SESSION_VALUES                                                                               \
  "id, workspace, folder, name, owner, memory_bytes, timeout_s, idle_s, runtime, environment, labels, " \
  "(SELECT COALESCE(MAX(x.number), 0) FROM executions x WHERE x.session = sessions.id), created_us, "   \
  "active_us, deleted_us, awake_max_s, CASE WHEN awake_max_s > 0 THEN (SELECT x.created_us FROM "       \
  "executions x WHERE x.session = sessions.id AND (x.number = 1 OR x.detail LIKE '" SK_WOKE             \
  "%') "                                                                                                \
  "ORDER BY x.number DESC LIMIT 1) END"

SessionInfo read_session(const catalog::Row& row) {
  SessionInfo session;
  session.id = row.id(0);
  session.workspace = row.id(1);
  session.folder = row.str(2);
  session.name = row.str(3);
  session.owner = row.id(4);
  session.memory_bytes = static_cast<uint64_t>(row.integer(5));
  session.timeout_s = row.integer(6);
  session.idle_s = row.integer(7);
  session.runtime = row.str(8);
  session.environment = Json::parse(row.text(9));
  session.labels = Json::parse(row.text(10));
  session.execution_count = row.integer(11);
  session.created_us = row.integer(12);
  session.active_us = row.integer(13);
  session.deleted_us = row.maybe_integer(14);
  session.awake_max_s = row.integer(15);
  session.woke_us = row.maybe_integer(16);
  session.status = session.deleted_us ? SessionStatus::deleted : SessionStatus::asleep;
  return session;
}

// The catalog of a newer server may name reasons that this one does not know.
UnkeptReason reason_named(std::string_view name) {
  return unkept_reason_from(name).value_or(UnkeptReason::error);
}

Json pairs_to_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Json list = Json::array();
  for (const auto& [from, to] : pairs) list.push_back({{"from", from}, {"to", to}});
  return list;
}

std::vector<std::pair<std::string, std::string>> pairs_from(const Json& list) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& item : list) pairs.emplace_back(item.at("from"), item.at("to"));
  return pairs;
}

// Longer outputs have a row of their own.
constexpr size_t kOutputsInDetailBytesMax = 2 << 10;

// Everything but the outputs.
Json detail_of(const Execution& execution) {
  Json not_kept = Json::array();
  for (const auto& item : execution.files.not_kept)
    not_kept.push_back({{"path", item.path}, {"reason", name_of(item.reason)}, {"message", item.message}});
  Json detail = {{"woke", execution.woke},
                 {"message", execution.message},
                 {"folders", execution.files.folders},
                 {"renamed", pairs_to_json(execution.files.renamed)},
                 {"deleted", execution.files.deleted},
                 {"not_kept", not_kept},
                 {"added", pairs_to_json(execution.added)},
                 {"timings", execution.timings}};
  if (execution.exit_code) detail["exit_code"] = *execution.exit_code;
  return detail;
}

Execution read_execution(const catalog::Row& row) {
  Execution execution;
  execution.id = row.id(0);
  execution.session = row.id(1);
  execution.number = row.integer(2);
  execution.author = row.id(3);
  execution.language = row.str(4);
  execution.code = row.str(5);
  execution.status = execution_status_from(row.text(6)).value_or(ExecutionStatus::done);
  if (!row.text(7).empty()) execution.outcome = outcome_from(row.text(7)).value_or(Outcome::crash);
  execution.created_us = row.integer(9);
  execution.started_us = row.integer(10);
  execution.ended_us = row.integer(11);
  Json detail = Json::parse(row.text(8));
  execution.message = detail.value("message", "");
  execution.woke = detail.value("woke", false);
  if (auto outputs = detail.find("outputs"); outputs != detail.end())
    execution.outputs = outputs_from(*outputs);
  else if (!row.is_null(12))
    execution.outputs = outputs_from(Json::parse(row.text(12)));
  execution.timings = detail.value("timings", Json::object());
  if (detail.contains("exit_code")) execution.exit_code = detail["exit_code"].get<int>();
  execution.files.folders = detail.value("folders", std::vector<std::string>());
  execution.files.deleted = detail.value("deleted", std::vector<std::string>());
  execution.files.renamed = pairs_from(detail.value("renamed", Json::array()));
  execution.added = pairs_from(detail.value("added", Json::array()));
  for (const auto& item : detail.value("not_kept", Json::array()))
    execution.files.not_kept.push_back(
        {item.at("path"), reason_named(item.at("reason").get<std::string>()), item.at("message"), false});
  return execution;
}

#define SK_EXECUTION_COLUMNS \
  "id, session, number, author, language, code, status, outcome, detail, created_us, started_us, ended_us"
// As read_execution() takes them.
#define SK_EXECUTION_READ \
  SK_EXECUTION_COLUMNS ", (SELECT o.outputs FROM execution_outputs o WHERE o.execution = executions.id)"

}  // namespace

bool is_of(const SessionInfo& session, const workspace::Actor& actor) {
  return session.owner == actor.principal() &&
         (!actor.only_workspace() || *actor.only_workspace() == session.workspace);
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

void Records::insert(const SessionInfo& session) {
  auto owner = identity::recorded_actor(session.owner, "");
  ground_.db.write([&](catalog::Tx& tx) {
    tx.exec("INSERT INTO sessions (" SK_SESSION_COLUMNS
            ", dirty, copy_identity, synced_seq, copy_boot) "
            "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, NULL, $15, 1, '', 0, '')",
            {session.id, session.workspace, session.folder, session.name, session.owner, session.memory_bytes,
             session.timeout_s, session.idle_s, session.runtime, to_text(session.environment),
             to_text(session.labels), session.execution_count, session.created_us, session.active_us,
             session.awake_max_s});
    workspace::Journal::append(tx, ground_, session.workspace, owner, "session.create",
                               {{"session_id", session.id.with_prefix(workspace::prefix::session)},
                                {"memory_bytes", session.memory_bytes}},
                               {{"name", session.name}, {"folder", session.folder}});
  });
}

std::optional<SessionInfo> Records::find(const Id& session) {
  return ground_.db.read([&](catalog::Statements& statements) {
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
  return ground_.db.read([&](catalog::Statements& statements) {
    return query.order == workspace::Order::newest_first
               ? statements.all(SK_LISTED_SESSIONS " AND id < $4 ORDER BY id DESC LIMIT $5",
                                {owner, workspace, query.name, after, query.limit}, read_session)
               : statements.all(SK_LISTED_SESSIONS " AND id > $4 ORDER BY id LIMIT $5",
                                {owner, workspace, query.name, after, query.limit}, read_session);
  });
}

std::vector<SessionInfo> Records::dirty_sessions() {
  return ground_.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT " SK_SESSION_VALUES " FROM sessions WHERE dirty = 1", {}, read_session);
  });
}

std::vector<SessionInfo> Records::sessions_with_copies(TimeUs unused_since_us, size_t limit) {
  return ground_.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT " SK_SESSION_VALUES
                          " FROM sessions WHERE dirty = 0 AND copy_identity <> '' AND deleted_us IS NULL "
                          "AND active_us < $1 ORDER BY active_us LIMIT $2",
                          {unused_since_us, limit}, read_session);
  });
}

void Records::mark_deleted(const Id& session, TimeUs now_us) {
  auto found = find(session);
  if (!found) return;
  auto owner = identity::recorded_actor(found->owner, "");
  ground_.db.write([&](catalog::Tx& tx) {
    tx.exec("UPDATE sessions SET deleted_us = $2, dirty = 0 WHERE id = $1", {session, now_us});
    tx.exec("DELETE FROM manifests WHERE session = $1", {session});
    tx.exec("DELETE FROM unkept WHERE session = $1", {session});
    workspace::Journal::append(tx, ground_, found->workspace, owner, "session.delete",
                               {{"session_id", session.with_prefix(workspace::prefix::session)}},
                               {{"name", found->name}, {"folder", found->folder}});
  });
}

void Records::tell(const SessionInfo& session, std::string_view kind, TimeUs expires_us) {
  auto owner = identity::recorded_actor(session.owner, "");
  ground_.db.write([&](catalog::Tx& tx) {
    workspace::Journal::append(tx, ground_, session.workspace, owner, kind,
                               {{"session_id", session.id.with_prefix(workspace::prefix::session)},
                                {"expires_at", to_iso8601(expires_us)}},
                               {{"name", session.name}, {"folder", session.folder}});
  });
}

void Records::save_activity(const Id& session, TimeUs active_us, int64_t execution_count) {
  ground_.db.write([&](catalog::Tx& tx) {
    tx.exec("UPDATE sessions SET active_us = $2, execution_count = $3 WHERE id = $1",
            {session, active_us, execution_count});
  });
}

CopyState Records::copy_state(const Id& session) {
  return ground_.db
      .read([&](catalog::Statements& statements) {
        return statements.one(
            "SELECT dirty, copy_identity, synced_seq, copy_boot FROM sessions WHERE id = $1", {session},
            [](const catalog::Row& row) {
              return CopyState{row.integer(0) != 0, row.str(1), row.integer(2), row.str(3)};
            });
      })
      .value_or(CopyState{});
}

void Records::forget_copy(const Id& session) {
  ground_.db.write([&](catalog::Tx& tx) {
    tx.exec("UPDATE sessions SET copy_identity = '', synced_seq = 0, copy_boot = '' WHERE id = $1",
            {session});
    tx.exec("DELETE FROM manifests WHERE session = $1", {session});
  });
}

void Records::mark_copies_synced() {
  ground_.db.write(
      [&](catalog::Tx& tx) { tx.exec("UPDATE sessions SET copy_boot = '' WHERE copy_boot <> ''", {}); });
}

namespace {

Unkept read_unkept(const catalog::Row& row) {
  return {row.str(0),
          unkept_from(row.text(1)).value_or(Unkept::What::recovered),
          reason_named(row.text(2)),
          row.str(3),
          row.id(4),
          row.integer(5) != 0};
}

#define SK_UNKEPT_COLUMNS "path, what, reason, message, version, only_copy"

// Leaves out what is settled without a word of the session: versions that were purged, and those kept aside
// whose bytes became the head since, by a restore or from the trash.
#define SK_UNKEPT_IS_OPEN                                                                                  \
  "(what = 'refused' OR EXISTS (SELECT 1 FROM versions v JOIN entries e ON e.id = v.file WHERE "           \
  "v.id = unkept.version AND (what <> 'aside' OR NOT (v.head_us IS NOT NULL AND (e.trashed_us IS NULL OR " \
  "e.trashed_us <> v.created_us) OR EXISTS (SELECT 1 FROM versions w WHERE w.file = v.file AND "           \
  "w.number > v.number AND w.sha256 = v.sha256 AND w.head_us IS NOT NULL)))))"

}  // namespace

void Records::add_unkept(catalog::Tx& tx, const Id& session, const std::vector<Unkept>& items) {
  TimeUs now_us = ground_.clock.now_us();
  for (const auto& item : items)
    tx.exec("INSERT INTO unkept (session, " SK_UNKEPT_COLUMNS
            ", since_us, told) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0) ON CONFLICT (session, path, what) "
            "DO UPDATE SET reason = excluded.reason, message = excluded.message, version = excluded.version, "
            "only_copy = excluded.only_copy, since_us = excluded.since_us, told = 0",
            {session, item.path, name_of(item.what), name_of(item.reason), item.message,
             item.version ? catalog::Param(item.version) : catalog::Param(nullptr), item.only_copy ? 1 : 0,
             now_us});
}

void Records::save_refused(const Id& session, const std::vector<Unkept>& refused) {
  ground_.db.write([&](catalog::Tx& tx) {
    tx.exec("DELETE FROM unkept WHERE session = $1 AND what = 'refused'", {session});
    add_unkept(tx, session, refused);
  });
}

std::vector<Unkept> Records::unkept(const Id& session) {
  return ground_.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT " SK_UNKEPT_COLUMNS " FROM unkept WHERE session = $1 AND " SK_UNKEPT_IS_OPEN
                          " ORDER BY path, what",
                          {session}, read_unkept);
  });
}

std::vector<Unkept> Records::unkept(const Id& session, const UnkeptPlace& after, size_t limit) {
  return ground_.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT " SK_UNKEPT_COLUMNS " FROM unkept WHERE session = $1 AND " SK_UNKEPT_IS_OPEN
                          " AND (path, what) > ($2, $3) ORDER BY path, what LIMIT $4",
                          {session, after.path, after.what ? name_of(*after.what) : "", limit}, read_unkept);
  });
}

bool Records::forget_unkept(const Id& session, const Unkept& item) {
  return ground_.db.write([&](catalog::Tx& tx) {
    return tx.exec("DELETE FROM unkept WHERE session = $1 AND path = $2 AND what = $3 AND version = $4",
                   {session, item.path, name_of(item.what), item.version}) > 0;
  });
}

void Records::forget_aside(catalog::Tx& tx, const Id& session, const KeptFile& kept) {
  tx.exec(
      "DELETE FROM unkept WHERE session = $1 AND what = 'aside' AND (path = $2 OR version IN (SELECT id FROM "
      "versions WHERE file = $3))",
      {session, kept.path, kept.file});
}

void Records::forget_aside(const Id& session, const std::string& path) {
  KeptFile gone;
  gone.path = path;
  ground_.db.write([&](catalog::Tx& tx) { forget_aside(tx, session, gone); });
}

void Records::explain_unkept(const Id& session, const Unkept& item) {
  ground_.db.write([&](catalog::Tx& tx) {
    tx.exec(
        "UPDATE unkept SET reason = $5, message = $6 WHERE session = $1 AND path = $2 AND what = $3 AND "
        "version = $4",
        {session, item.path, name_of(item.what), item.version, name_of(item.reason), item.message});
  });
}

std::vector<Unkept> Records::untold(const Id& session) {
  return ground_.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT " SK_UNKEPT_COLUMNS
                          " FROM unkept WHERE session = $1 AND what = 'recovered' AND told = 0 ORDER BY path",
                          {session}, read_unkept);
  });
}

void Records::mark_told(const Id& session) {
  ground_.db.write([&](catalog::Tx& tx) {
    tx.exec("UPDATE unkept SET told = 1 WHERE session = $1 AND what = 'recovered' AND told = 0", {session});
  });
}

void Records::save_copy_state(const Id& session, const CopyState& state) {
  ground_.db.write([&](catalog::Tx& tx) {
    tx.exec(
        "UPDATE sessions SET dirty = $2, copy_identity = $3, synced_seq = $4, copy_boot = $5 WHERE id = $1",
        {session, state.dirty ? 1 : 0, state.identity, state.synced_seq, state.boot});
  });
}

namespace {

void insert_files(catalog::Tx& tx, const Id& execution, const std::vector<KeptFile>& kept) {
  int64_t seq = tx.one("SELECT MAX(seq) FROM execution_files WHERE execution = $1", {execution},
                       [](const catalog::Row& row) { return row.maybe_integer(0).value_or(0); })
                    .value_or(0);
  for (const auto& file : kept)
    tx.exec("INSERT INTO execution_files (execution, seq, detail) VALUES ($1, $2, $3)",
            {execution, ++seq, to_text(to_json(file))});
}

// A finished one stays finished: saves of a running one may come late.
// `key` is written once, with the first record of an execution.
// Text of a record as the catalog can store it. U+0000 becomes its symbol, U+2400: a record with a replaced
// character is better than none, and a cell that contains it fails anyway.
std::string without_nul(const std::string& text) {
  std::string out;
  for (char c : text)
    if (c == '\0')
      out += "\u2400";
    else
      out += c;
  return out;
}

void upsert_execution(catalog::Tx& tx, const Execution& execution, const std::optional<std::string>& request,
                      const std::optional<std::string>& key = std::nullopt) {
  Json detail = detail_of(execution), outputs = to_json(execution.outputs);
  std::string long_outputs = to_text(outputs);
  if (long_outputs.size() <= kOutputsInDetailBytesMax) {
    detail["outputs"] = std::move(outputs);
    long_outputs.clear();
  }
  size_t written = tx.exec(
      "INSERT INTO executions (" SK_EXECUTION_COLUMNS
      ", request, idempotency_key) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) "
      "ON CONFLICT (id) DO UPDATE SET status = excluded.status, outcome = excluded.outcome, detail = "
      "excluded.detail, started_us = excluded.started_us, ended_us = excluded.ended_us, request = "
      "excluded.request WHERE executions.status <> 'done' OR excluded.status = 'done'",
      {execution.id, execution.session, execution.number, execution.author, execution.language,
       without_nul(execution.code), name_of(execution.status), outcome_name(execution), to_text(detail),
       execution.created_us, execution.started_us, execution.ended_us, request, key});
  if (written == 0) return;  // it is done already
  if (long_outputs.empty())
    tx.exec("DELETE FROM execution_outputs WHERE execution = $1", {execution.id});
  else
    tx.exec(
        "INSERT INTO execution_outputs (execution, outputs) VALUES ($1, $2) ON CONFLICT (execution) "
        "DO UPDATE SET outputs = excluded.outputs WHERE execution_outputs.outputs <> excluded.outputs",
        {execution.id, long_outputs});
}

}  // namespace

void Records::save(const Execution& execution, catalog::Survives survives) {
  auto write = [&](catalog::Tx& tx) {
    upsert_execution(tx, execution, std::nullopt);
    // The files of a running one are recorded with their versions.
    if (execution.status != ExecutionStatus::done) return;
    // Of files that it kept several times while it ran, the last one counts.
    tx.exec("DELETE FROM execution_files WHERE execution = $1", {execution.id});
    insert_files(tx, execution.id, execution.files.kept);
  };
  ground_.db.write(write, survives);
}

void Records::save(catalog::Tx& tx, const Execution& execution, const std::vector<KeptFile>& kept) {
  upsert_execution(tx, execution, std::nullopt);
  insert_files(tx, execution.id, kept);
}

void Records::save_accepted(const Execution& execution, const NewExecution& wanted) {
  Json request = {{"tools", wanted.tools}};
  if (wanted.timeout_s) request["timeout_s"] = *wanted.timeout_s;
  auto key = wanted.idempotency_key.empty() ? std::nullopt : std::optional(wanted.idempotency_key);
  ground_.db.write([&](catalog::Tx& tx) { upsert_execution(tx, execution, to_text(request), key); });
}

std::vector<AcceptedExecution> Records::accepted() {
  return ground_.db.read([&](catalog::Statements& statements) {
    return statements.all(
        "SELECT " SK_EXECUTION_READ
        ", request FROM executions WHERE status = 'queued' AND request IS NOT NULL ORDER BY "
        "created_us, number",
        {}, [](const catalog::Row& row) {
          AcceptedExecution one{read_execution(row), {}};
          Json request = Json::parse(row.text(13));
          one.wanted.code = one.execution.code;
          one.wanted.language = one.execution.language;
          one.wanted.tools = request.value("tools", false);
          if (request.contains("timeout_s")) one.wanted.timeout_s = request["timeout_s"].get<int64_t>();
          return one;
        });
  });
}

std::optional<Execution> Records::find_execution(const Id& session, const Id& execution) {
  auto found = ground_.db.read([&](catalog::Statements& statements) {
    return statements.one("SELECT " SK_EXECUTION_READ " FROM executions WHERE id = $1 AND session = $2",
                          {execution, session}, read_execution);
  });
  if (found) found->files.kept = kept_files(execution, 0, 1'000'000);
  return found;
}

std::optional<Execution> Records::find_by_key(const Id& session, const std::string& key, TimeUs since_us) {
  auto found = ground_.db.read([&](catalog::Statements& statements) {
    return statements.one("SELECT " SK_EXECUTION_READ
                          " FROM executions WHERE session = $1 AND idempotency_key = $2 AND created_us >= $3 "
                          "ORDER BY created_us DESC LIMIT 1",
                          {session, key, since_us}, read_execution);
  });
  if (found) found->files.kept = kept_files(found->id, 0, 1'000'000);
  return found;
}

std::vector<Execution> Records::list_executions(const Id& session, int64_t before, size_t limit) {
  return ground_.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT " SK_EXECUTION_READ
                          " FROM executions WHERE session = $1 AND number < $2 ORDER BY number DESC LIMIT $3",
                          {session, before == 0 ? INT64_MAX : before, limit}, read_execution);
  });
}

std::vector<Execution> Records::executions_after(const Id& session, int64_t after, size_t limit) {
  return ground_.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT " SK_EXECUTION_READ
                          " FROM executions WHERE session = $1 AND number > $2 ORDER BY number LIMIT $3",
                          {session, after, limit}, read_execution);
  });
}

std::vector<KeptFile> Records::kept_files(const Id& execution, int64_t after, size_t limit) {
  return ground_.db.read([&](catalog::Statements& statements) {
    return statements.all(
        "SELECT detail FROM execution_files WHERE execution = $1 AND seq > $2 ORDER BY seq LIMIT $3",
        {execution, after, limit},
        [](const catalog::Row& row) { return kept_file_from(Json::parse(row.text(0))); });
  });
}

void Records::end_interrupted_executions(TimeUs now_us) {
  ground_.db.write([&](catalog::Tx& tx) {
    auto left = tx.all(
        "SELECT id, detail FROM executions WHERE status <> 'done' AND (status <> 'queued' OR request IS "
        "NULL)",
        {}, [](const catalog::Row& row) { return std::pair(row.id(0), Json::parse(row.text(1))); });
    for (auto& [id, detail] : left) {
      detail["message"] =
          "the server was stopped while this ran; files that were closed by then are kept, what it printed "
          "last may be missing";
      tx.exec(
          "UPDATE executions SET status = 'done', outcome = 'crash', ended_us = $2, detail = $3 WHERE id = "
          "$1",
          {id, now_us, to_text(detail)});
    }
    // Nor did it write when its sessions were last used; their executions tell.
    tx.exec(
        "UPDATE sessions SET active_us = COALESCE((SELECT MAX(x.ended_us) FROM executions x WHERE x.session "
        "= "
        "sessions.id AND x.ended_us > sessions.active_us), active_us) WHERE dirty = 1",
        {});
  });
}

}  // namespace sk::interpreter
