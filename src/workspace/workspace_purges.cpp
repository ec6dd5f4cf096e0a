#include "workspace/workspace_purges.h"

#include "base/error.h"
#include "workspace/blob_ledger.h"
#include "workspace/purge_rows.h"
#include "workspace/usage.h"

namespace sk::workspace {

namespace {

// Rows of a journal are small, and nothing else depends on them.
constexpr int64_t kJournalRowsAtOnce = 2'000;

// Each step deletes some rows in its transaction, and returns whether there may be more.

bool purge_entries(ChangeRun& run, PurgeResult& part) {
  auto id = [](const catalog::Row& row) { return row.id(0); };
  // Members of a folder go before the folder. Two searches, because each index has either the live entries
  // or the trashed ones.
  auto entries = run.tx().all(
      "SELECT id FROM entries WHERE workspace = $1 AND trashed_us IS NULL ORDER BY parent DESC, name DESC "
      "LIMIT $2",
      {run.workspace(), kPurgedAtOnce}, id);
  if (entries.empty())
    entries = run.tx().all("SELECT id FROM entries WHERE workspace = $1 AND trashed_us IS NOT NULL LIMIT $2",
                           {run.workspace(), kPurgedAtOnce}, id);
  auto left = [&] { return kPurgedAtOnce - rows_of(part); };
  for (const Id& entry : entries)
    if (left() <= 0 || !purge_entry(run, entry, left(), part)) break;
  run.shrink(part.freed_bytes);
  run.count_noted_rows();
  return !entries.empty();
}

bool purge_uploads(ChangeRun& run, PurgeResult& part) {
  struct Part {
    Id upload, id;
    Sha256 sha256;
  };
  auto parts = run.tx().all(
      "SELECT p.upload, p.id, p.sha256 FROM uploads u JOIN upload_parts p ON p.upload = u.id WHERE "
      "u.workspace = $1 LIMIT $2",
      {run.workspace(), kPurgedAtOnce},
      [](const catalog::Row& row) { return Part{row.id(0), row.id(1), row.hash(2)}; });
  for (const Part& one : parts) {
    part.freed_bytes += BlobLedger::drop(run.tx(), run.workspace(), one.sha256);
    run.tx().exec("DELETE FROM upload_parts WHERE upload = $1 AND id = $2", {one.upload, one.id});
  }
  run.shrink(part.freed_bytes);
  if (!parts.empty()) return true;
  return run.tx().exec(
             "DELETE FROM uploads WHERE id IN (SELECT id FROM uploads WHERE workspace = $1 LIMIT $2)",
             {run.workspace(), kPurgedAtOnce}) > 0;
}

bool purge_locks(ChangeRun& run, PurgeResult&) {
  run.tx().exec("DELETE FROM locks WHERE workspace = $1", {run.workspace()});
  run.tx().exec("DELETE FROM purges WHERE workspace = $1 AND root <> $1", {run.workspace()});
  return run.tx().exec(
             "DELETE FROM fences WHERE workspace = $1 AND path IN (SELECT path FROM fences WHERE workspace = "
             "$1 LIMIT $2)",
             {run.workspace(), kPurgedAtOnce}) > 0;
}

bool purge_rows_of_others(ChangeRun& run, PurgeResult&) {
  for (const auto& purge : run.context().on_workspace_purge)
    if (purge(run.tx(), run.workspace(), kPurgedAtOnce) > 0) return true;
  return false;
}

bool purge_journal(ChangeRun& run, PurgeResult&) {
  int64_t bytes = 0;
  auto rows = run.tx().query(
      "DELETE FROM journal WHERE workspace = $1 AND seq IN (SELECT seq FROM journal WHERE workspace = $1 "
      "ORDER BY seq LIMIT $2) RETURNING octet_length(kind) + octet_length(facts) + "
      "COALESCE(octet_length(personal), 0)",
      {run.workspace(), kJournalRowsAtOnce}, [&](const catalog::Row& row) {
        bytes += row.integer(0) + kRowBytes;
        return true;
      });
  count_records(run.tx(), run.workspace(), RecordKind::journal, {-bytes, 0});
  return rows > 0;
}

// Deletes the workspace, of which nothing is left. Returns whether something came in between.
bool purge_itself(ChangeRun& run, PurgeResult&) {
  catalog::Tx& tx = run.tx();
  const Id& workspace = run.workspace();
  if (tx.exists("SELECT 1 FROM entries WHERE workspace = $1 AND trashed_us IS NULL LIMIT 1", {workspace}) ||
      tx.exists("SELECT 1 FROM entries WHERE workspace = $1 AND trashed_us IS NOT NULL LIMIT 1",
                {workspace}) ||
      tx.exists("SELECT 1 FROM journal WHERE workspace = $1 LIMIT 1", {workspace}))
    return true;
  drop_workspace(tx, workspace);
  tx.exec("DELETE FROM journals WHERE workspace = $1", {workspace});
  tx.exec("DELETE FROM members WHERE workspace = $1", {workspace});
  tx.exec("DELETE FROM purges WHERE root = $1", {workspace});
  tx.exec("DELETE FROM workspaces WHERE id = $1", {workspace});
  return false;
}

using PurgeStep = bool (*)(ChangeRun& run, PurgeResult& part);

}  // namespace

std::vector<BegunPurge> begun_workspace_purges(KeepContext& context) {
  return context.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT w.id, w.owner FROM purges p JOIN workspaces w ON w.id = p.root", {},
                          [](const catalog::Row& row) { return BegunPurge{row.id(0), row.id(1)}; });
  });
}

PurgeResult purge_workspace(KeepContext& context, const BegunPurge& begun,
                            const std::function<bool()>& go_on) {
  PurgeResult sum;
  const Author owner(begun.owner, "purge");
  // Returns whether the step may have more to do. The purge ends when another one was faster.
  auto run_step = [&](PurgeStep step) {
    if (!go_on()) throw Error(Code::unavailable, "the server is stopping; the purge goes on when it is back");
    PurgeResult part;
    bool has_more = context.db.write(
        catalog::Scope::workspace(begun.workspace).asked_by(begun.owner), [&](catalog::Tx& tx) {
          part = {};
          if (!tx.exists("SELECT 1 FROM purges WHERE root = $1", {begun.workspace})) return false;
          ChangeRun run(tx, context, owner, begun.workspace);
          return step(run, part);
        });
    add_result(sum, std::move(part));
    return has_more;
  };
  for (bool has_more = true; has_more;) {
    for (PurgeStep step : {purge_entries, purge_uploads, purge_locks, purge_rows_of_others, purge_journal})
      while (run_step(step)) {
      }
    has_more = run_step(purge_itself);
  }
  return sum;
}

}  // namespace sk::workspace
