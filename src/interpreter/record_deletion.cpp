#include "interpreter/record_deletion.h"

#include "workspace/journal.h"
#include "workspace/usage.h"

namespace sk::interpreter {

namespace {

constexpr size_t kRecordsPerTransaction = 200, kTransactionsMax = 50;
// A cell may keep hundreds of thousands of files, each with a row.
constexpr int64_t kFilesPerTransaction = 5'000;

struct Place {
  Id session = {};
  int64_t number = INT64_MIN;
};

struct Found {
  Id execution;
  Place place;
  int64_t files;
};

// The next executions that match, by session and number.
std::vector<Found> find_executions(catalog::Database& db, const Id& workspace, const RecordFilter& filter,
                                   const Place& after) {
  return db.read([&](catalog::Statements& statements) {
    auto read = [](const catalog::Row& row) {
      return Found{row.id(2), {row.id(0), row.integer(1)}, row.integer(3)};
    };
    return statements.all(
        "SELECT s.id, x.number, x.id, (SELECT count(*) FROM execution_files f WHERE f.execution = x.id) FROM "
        "sessions s JOIN executions x ON x.session = s.id WHERE s.workspace "
        "= "
        "$1 AND x.status = 'done' AND x.ended_us < $2 AND ($3 IS NULL OR s.id = $3) AND (s.id, x.number) > "
        "($4, $5) ORDER BY s.id, x.number LIMIT $6",
        {workspace, filter.ended_before_us, filter.session, after.session, after.number,
         kRecordsPerTransaction},
        read);
  });
}

int64_t sum_of(catalog::Tx& tx, catalog::Sql sql, const Id& id) {
  return tx.one(sql, {id}, [](const catalog::Row& row) { return row.maybe_integer(0).value_or(0); })
      .value_or(0);
}

// Returns the bytes that it freed; nullopt if another call was faster.
std::optional<int64_t> delete_execution(catalog::Tx& tx, const Id& execution) {
  int64_t bytes =
      sum_of(tx, "SELECT bytes FROM execution_sizes WHERE execution = $1", execution) +
      sum_of(tx, "SELECT CAST(sum(bytes) AS BIGINT) FROM execution_file_sizes WHERE execution = $1",
             execution);
  tx.exec("DELETE FROM execution_files WHERE execution = $1", {execution});
  tx.exec("DELETE FROM execution_outputs WHERE execution = $1", {execution});
  if (tx.exec("DELETE FROM executions WHERE id = $1 AND status = 'done'", {execution}) == 0)
    return std::nullopt;
  return bytes;
}

// The same for a session that was deleted and has no executions left.
std::optional<int64_t> delete_session(catalog::Tx& tx, const Id& session) {
  if (!tx.exists("SELECT 1 FROM sessions WHERE id = $1 AND deleted_us IS NOT NULL", {session}) ||
      tx.exists("SELECT 1 FROM executions WHERE session = $1", {session}))
    return std::nullopt;
  int64_t bytes = sum_of(tx, "SELECT bytes FROM session_sizes WHERE session = $1", session);
  tx.exec("DELETE FROM session_attachments WHERE session = $1", {session});
  tx.exec("DELETE FROM session_aliases WHERE session = $1", {session});
  tx.exec("DELETE FROM sessions WHERE id = $1", {session});
  return bytes;
}

class Deletion {
 public:
  Deletion(workspace::KeepContext& context, const workspace::Authority& authority, const RecordFilter& filter)
      : context_(context), authority_(authority), filter_(filter) {}

  // One transaction: executions, and the sessions of which nothing is left.
  void remove(const std::vector<Id>& executions, const std::vector<Id>& sessions) {
    DeletedRecords done;
    context_.db.write(authority_.scope(), [&](catalog::Tx& tx) {
      done = {};  // a transaction may run again
      check_still_holds(tx, authority_, workspace::Right::own);
      for (const Id& execution : executions)
        if (auto bytes = delete_execution(tx, execution)) ++done.executions, done.bytes += *bytes;
      for (const Id& session : sessions)
        if (auto bytes = delete_session(tx, session)) ++done.sessions, done.bytes += *bytes;
      if (done.executions + done.sessions == 0) return;
      workspace::count_records(tx, authority_.workspace_id(), workspace::RecordKind::execution,
                               {-done.bytes, -static_cast<int64_t>(done.executions)});
      Json facts = {{"executions", done.executions},
                    {"sessions", done.sessions},
                    {"ended_before", to_iso8601(filter_.ended_before_us)}};
      if (filter_.session) facts["session_id"] = filter_.session->with_prefix(workspace::prefix::session);
      workspace::Journal::append(tx, context_, authority_.workspace_id(), authority_.author(),
                                 "executions.delete", facts, {});
    });
    total_.executions += done.executions;
    total_.sessions += done.sessions;
    total_.bytes += done.bytes;
  }

  // Deletes the rows of an execution's files, in several transactions if there are many.
  void remove_files(const Id& execution) {
    for (bool has_more = true; has_more;) {
      int64_t bytes = 0;
      context_.db.write(authority_.scope(), [&](catalog::Tx& tx) {
        check_still_holds(tx, authority_, workspace::Right::own);
        bytes =
            tx.one(
                  "SELECT CAST(sum(f.bytes) AS BIGINT) FROM (SELECT octet_length(detail) + $3 AS bytes FROM "
                  "execution_files WHERE execution = $1 ORDER BY seq LIMIT $2) f",
                  {execution, kFilesPerTransaction, workspace::kRowBytes},
                  [](const catalog::Row& row) { return row.maybe_integer(0).value_or(0); })
                .value_or(0);
        auto deleted = tx.exec(
            "DELETE FROM execution_files WHERE execution = $1 AND seq IN (SELECT seq FROM "
            "execution_files WHERE execution = $1 ORDER BY seq LIMIT $2)",
            {execution, kFilesPerTransaction});
        has_more = deleted > 0;
        workspace::count_records(tx, authority_.workspace_id(), workspace::RecordKind::execution,
                                 {-bytes, 0});
      });
      total_.bytes += bytes;
    }
  }

  // As many of them as one transaction may delete.
  void remove_found(const std::vector<Found>& found) {
    std::vector<Id> executions;
    int64_t files = 0;
    auto flush = [&] {
      remove(std::exchange(executions, {}), {});
      files = 0;
    };
    for (const auto& one : found) {
      if (one.files > kFilesPerTransaction) remove_files(one.execution);
      int64_t left = one.files > kFilesPerTransaction ? 0 : one.files;
      if (files + left > kFilesPerTransaction) flush();
      executions.push_back(one.execution);
      files += left;
    }
    flush();
  }

  DeletedRecords run() {
    size_t transactions = 0;
    for (Place after;; ++transactions) {
      auto found = find_executions(context_.db, authority_.workspace_id(), filter_, after);
      if (found.empty()) break;
      if (transactions == kTransactionsMax) return stopped();
      remove_found(found);
      after = found.back().place;
    }
    for (;; ++transactions) {
      auto sessions = empty_sessions();
      if (sessions.empty()) return total_;
      if (transactions == kTransactionsMax) return stopped();
      size_t before = total_.sessions;
      remove({}, sessions);
      if (total_.sessions == before) return total_;  // other calls delete them
    }
  }

 private:
  DeletedRecords stopped() {
    total_.has_more = true;
    return total_;
  }

  std::vector<Id> empty_sessions() {
    return context_.db.read([&](catalog::Statements& statements) {
      return statements.all(
          "SELECT s.id FROM sessions s WHERE s.workspace = $1 AND s.deleted_us < $2 AND ($3 IS NULL OR s.id "
          "= "
          "$3) AND NOT EXISTS (SELECT 1 FROM executions x WHERE x.session = s.id) ORDER BY s.id LIMIT $4",
          {authority_.workspace_id(), filter_.ended_before_us, filter_.session, kRecordsPerTransaction},
          [](const catalog::Row& row) { return row.id(0); });
    });
  }

  workspace::KeepContext& context_;
  const workspace::Authority& authority_;
  const RecordFilter& filter_;
  DeletedRecords total_;
};

// Deletes some of the rows of an execution's files. Returns how many, and counts them for the workspace.
size_t delete_some_files(catalog::Tx& tx, const Id& workspace, const Id& execution, size_t rows_max) {
  int64_t bytes = 0;
  size_t rows = tx.query(
      "DELETE FROM execution_files WHERE execution = $1 AND seq IN (SELECT seq FROM execution_files WHERE "
      "execution = $1 ORDER BY seq LIMIT $2) RETURNING octet_length(detail)",
      {execution, rows_max}, [&](const catalog::Row& row) {
        bytes += row.integer(0) + workspace::kRowBytes;
        return true;
      });
  workspace::count_records(tx, workspace, workspace::RecordKind::execution, {-bytes, 0});
  return rows;
}

// Deletes an execution without files, whether or not it is done. Its session is deleted, so it never runs.
void purge_execution(catalog::Tx& tx, const Id& workspace, const Id& execution) {
  int64_t bytes = sum_of(tx, "SELECT bytes FROM execution_sizes WHERE execution = $1", execution);
  tx.exec("DELETE FROM execution_outputs WHERE execution = $1", {execution});
  tx.exec("DELETE FROM executions WHERE id = $1", {execution});
  workspace::count_records(tx, workspace, workspace::RecordKind::execution, {-bytes, -1});
}

}  // namespace

std::vector<Id> undeleted_sessions(workspace::KeepContext& context, const Id& workspace) {
  return context.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT id FROM sessions WHERE workspace = $1 AND deleted_us IS NULL", {workspace},
                          [](const catalog::Row& row) { return row.id(0); });
  });
}

size_t purge_session_rows(catalog::Tx& tx, const Id& workspace, size_t rows_max) {
  size_t rows = 0;
  while (rows < rows_max) {
    auto execution = tx.one(
        "SELECT x.id FROM sessions s JOIN executions x ON x.session = s.id WHERE s.workspace = $1 LIMIT 1",
        {workspace}, [](const catalog::Row& row) { return row.id(0); });
    if (!execution) break;
    size_t files = delete_some_files(tx, workspace, *execution, rows_max - rows);
    rows += files;
    if (rows >= rows_max) return rows;  // it may have more
    purge_execution(tx, workspace, *execution);
    ++rows;
  }
  while (rows < rows_max) {
    auto session = tx.one("SELECT id FROM sessions WHERE workspace = $1 AND deleted_us IS NOT NULL LIMIT 1",
                          {workspace}, [](const catalog::Row& row) { return row.id(0); });
    if (!session) break;
    auto bytes = delete_session(tx, *session);
    if (!bytes) break;
    workspace::count_records(tx, workspace, workspace::RecordKind::execution, {-*bytes, 0});
    ++rows;
  }
  return rows;
}

DeletedRecords delete_records(workspace::KeepContext& context, const workspace::Authority& authority,
                              const RecordFilter& filter) {
  authority.need(workspace::Right::own);
  return Deletion(context, authority, filter).run();
}

}  // namespace sk::interpreter
