#include "workspace/verify_run.h"

#include <set>

#include "base/error.h"
#include "base/path.h"
#include "workspace/blob_ledger.h"
#include "workspace/journal_hash.h"
#include "workspace/types.h"

namespace sk::workspace {

namespace {
constexpr size_t kVerifyBatch = 200;
constexpr size_t kProblemsMax = 1'000;
}  // namespace

void VerifyRun::problem(std::string text) {
  if (result_.problems.size() < kProblemsMax) result_.problems.push_back(std::move(text));
}

void VerifyRun::tell_progress() {
  if (progress_ && !progress_(result_)) throw Error(Code::unavailable, "the verification was stopped");
}

void VerifyRun::blobs() {
  struct Row {
    blobs::Blob blob;
    int64_t rowid;
  };
  Sha256 after;
  for (bool more = true, first = true; more; first = false) {
    auto batch = context_.db.read([&](catalog::Statements& statements) {
      auto take = [](const catalog::Row& row) {
        blobs::Blob blob;
        blob.hash = row.hash(0);
        blob.size = static_cast<uint64_t>(row.integer(1));
        blob.kind = static_cast<blobs::Kind>(row.integer(2));
        blob.location = row.str(3);
        blob.bytes = row.str(4);
        return blob;
      };
      return first ? statements.all(
                         "SELECT hash, size, kind, location, bytes FROM blobs ORDER BY hash LIMIT $1",
                         {kVerifyBatch}, take)
                   : statements.all(
                         "SELECT hash, size, kind, location, bytes FROM blobs WHERE hash > $1 ORDER BY hash "
                         "LIMIT $2",
                         {after, kVerifyBatch}, take);
    });
    more = batch.size() == kVerifyBatch;
    for (const auto& blob : batch) {
      after = blob.hash;
      ++result_.blobs;
      if (blob.kind == blobs::Kind::list) {
        uint64_t total = 0;
        for (const auto& piece : blobs::decode_pieces(blob.bytes)) {
          total += piece.size;
          // A list that is unreferenced or already deleted may have lost pieces to the collector.
          bool missing = context_.db.read([&](catalog::Statements& statements) {
            auto found = BlobLedger::find(statements, piece.hash);
            if (found && found->size == piece.size) return false;
            return statements.query("SELECT 1 FROM blobs WHERE hash = $1 AND refs > 0", {blob.hash},
                                    [](const catalog::Row&) { return false; }) > 0;
          });
          if (missing)
            problem("blob " + blob.hash.hex() + " needs the piece " + piece.hash.hex() +
                    ", which is missing");
        }
        if (total != blob.size)
          problem("the pieces of blob " + blob.hash.hex() + " do not add up to its size");
        continue;
      }
      result_.bytes += blob.size;
      bool good = blob.kind == blobs::Kind::file
                      ? context_.blobs.verify(blob.location, blob.hash, blob.size)
                      : blob.bytes.size() == blob.size && sha256(blob.bytes) == blob.hash;
      // A blob that was collected in the meantime is not a problem.
      if (!good && context_.db.read([&](catalog::Statements& statements) {
            return BlobLedger::find(statements, blob.hash).has_value();
          }))
        problem("blob " + blob.hash.hex() + " is missing or does not match its hash");
    }
    tell_progress();
  }
}

void VerifyRun::references() {
  context_.db.read([&](catalog::Statements& statements) {
    auto count = [&](catalog::Sql sql) {
      return *statements.one(sql, {}, [](const catalog::Row& row) { return row.integer(0); });
    };
    result_.versions = count("SELECT count(*) FROM versions");
    result_.entries = count("SELECT count(*) FROM entries");
    statements.query(
        "SELECT v.id FROM versions v LEFT JOIN blobs b ON b.hash = v.sha256 WHERE b.hash IS NULL OR b.size "
        "<> v.size",
        {}, [&](const catalog::Row& row) {
          problem("version " + row.id(0).with_prefix(prefix::version) + " has no blob of its size");
          return true;
        });
    statements.query(
        "SELECT e.id FROM entries e LEFT JOIN versions v ON v.id = e.head AND v.file = e.id AND v.sha256 = "
        "e.sha256 AND v.size = e.size "
        "WHERE e.kind = 0 AND v.id IS NULL",
        {}, [&](const catalog::Row& row) {
          problem("file " + row.id(0).with_prefix(prefix::file) + " has no current version");
          return true;
        });
    statements.query("SELECT v.id FROM versions v LEFT JOIN entries e ON e.id = v.file WHERE e.id IS NULL",
                     {}, [&](const catalog::Row& row) {
                       problem("version " + row.id(0).with_prefix(prefix::version) + " belongs to no file");
                       return true;
                     });
    statements.query(
        "SELECT DISTINCT a.file FROM attributes a LEFT JOIN entries e ON e.id = a.file AND e.workspace = "
        "a.workspace WHERE e.id IS NULL",
        {}, [&](const catalog::Row& row) {
          problem("modes are kept for " + row.id(0).with_prefix(prefix::file) + ", which is not there");
          return true;
        });
    std::set<std::pair<Id, std::string>> folders;
    statements.query("SELECT workspace, parent, name FROM entries WHERE kind = 1 AND trashed_us IS NULL", {},
                     [&](const catalog::Row& row) {
                       folders.emplace(row.id(0), join_path(row.text(1), row.text(2)));
                       return true;
                     });
    statements.query(
        "SELECT DISTINCT workspace, parent FROM entries WHERE trashed_us IS NULL AND parent <> '' AND NOT "
        "EXISTS (SELECT 1 FROM purges p WHERE p.root = entries.workspace)",
        {}, [&](const catalog::Row& row) {
          if (!folders.contains({row.id(0), row.str(1)}))
            problem("the folder '" + row.str(1) + "' of workspace " +
                    row.id(0).with_prefix(prefix::workspace) + " is missing");
          return true;
        });
    // Trash: entries trashed together share one root and one time, and no folder between them is missing,
    // unless their purge is under way.
    statements.query(
        "SELECT e.id FROM entries e LEFT JOIN entries r ON r.id = e.trash_root AND r.trash_root = r.id AND "
        "r.workspace = e.workspace AND r.trashed_us = e.trashed_us WHERE (e.trashed_us IS NOT NULL OR "
        "e.trash_root IS NOT NULL) AND r.id IS NULL AND NOT EXISTS (SELECT 1 FROM purges p WHERE p.root IN "
        "(e.trash_root, e.workspace))",
        {}, [&](const catalog::Row& row) {
          problem("entry " + row.id(0).with_prefix(prefix::file) +
                  " is in the trash with a folder that is not there");
          return true;
        });
    std::set<std::pair<Id, std::string>> trashed_folders;
    statements.query("SELECT trash_root, parent, name FROM entries WHERE kind = 1 AND trash_root IS NOT NULL",
                     {}, [&](const catalog::Row& row) {
                       trashed_folders.emplace(row.id(0), join_path(row.text(1), row.text(2)));
                       return true;
                     });
    statements.query(
        "SELECT DISTINCT trash_root, parent FROM entries WHERE trash_root IS NOT NULL AND trash_root <> id "
        "AND NOT EXISTS (SELECT 1 FROM purges p WHERE p.root IN (trash_root, entries.workspace))",
        {}, [&](const catalog::Row& row) {
          if (!trashed_folders.contains({row.id(0), row.str(1)}))
            problem("the folder '" + row.str(1) + "' is missing in the trash of " +
                    row.id(0).with_prefix(prefix::file));
          return true;
        });
  });
  tell_progress();
}

void VerifyRun::counts() {
  context_.db.read([&](catalog::Statements& statements) {
    statements.query(
        "SELECT b.hash FROM blobs b LEFT JOIN (SELECT hash, count(*) AS n FROM workspace_blobs GROUP BY "
        "hash) w ON w.hash = b.hash "
        "WHERE b.refs <> COALESCE(w.n, 0)",
        {}, [&](const catalog::Row& row) {
          problem("blob " + row.hash(0).hex() + " counts its workspaces wrongly");
          return true;
        });
    statements.query(
        "SELECT e.id FROM entries e LEFT JOIN (SELECT file, count(*) AS n, MAX(number) AS last FROM versions "
        "GROUP BY file) v ON v.file = e.id WHERE e.version_count <> COALESCE(v.n, 0) OR e.last_number < "
        "COALESCE(v.last, 0)",
        {}, [&](const catalog::Row& row) {
          problem("file " + row.id(0).with_prefix(prefix::file) + " counts its versions wrongly");
          return true;
        });
    statements.query(
        "SELECT w.id FROM workspaces w LEFT JOIN (SELECT wb.workspace, SUM(b.size) AS n FROM workspace_blobs "
        "wb JOIN blobs b ON b.hash = wb.hash "
        "WHERE b.kind <> 2 GROUP BY wb.workspace) s ON s.workspace = w.id WHERE w.used_bytes <> "
        "COALESCE(s.n, 0)",
        {}, [&](const catalog::Row& row) {
          problem("workspace " + row.id(0).with_prefix(prefix::workspace) + " counts its bytes wrongly");
          return true;
        });
    statements.query(
        "SELECT g.workspace FROM purged_workspaces g LEFT JOIN (SELECT workspace, count(*) AS n FROM "
        "purged_versions GROUP BY workspace) v ON v.workspace = g.workspace WHERE g.versions <> "
        "COALESCE(v.n, 0)",
        {}, [&](const catalog::Row& row) {
          problem("purged workspace " + row.id(0).with_prefix(prefix::workspace) +
                  " counts its versions wrongly");
          return true;
        });
    statements.query(
        "SELECT v.workspace, v.sha256 FROM versions v LEFT JOIN workspace_blobs wb ON wb.workspace = "
        "v.workspace AND wb.hash = v.sha256 "
        "GROUP BY v.workspace, v.sha256 HAVING COALESCE(MAX(wb.refs), 0) < count(*)",
        {}, [&](const catalog::Row& row) {
          problem("blob " + row.hash(1).hex() + " is needed by more versions of " +
                  row.id(0).with_prefix(prefix::workspace) + " than it counts");
          return true;
        });
  });
  tell_progress();
}

void VerifyRun::usage() {
  auto wrong = context_.db.read([&](catalog::Statements& statements) {
    return statements.all(
        "SELECT r.workspace FROM workspace_records r LEFT "
        "JOIN workspace_usage u ON u.workspace = r.workspace WHERE u.workspace IS NULL OR u.messages <> "
        "r.messages OR u.message_bytes <> r.message_bytes OR u.executions <> r.executions OR "
        "u.execution_bytes <> r.execution_bytes OR u.journal_bytes <> r.journal_bytes OR u.entries <> "
        "r.entries OR u.entry_bytes <> r.entry_bytes OR u.versions <> r.versions OR u.version_bytes <> "
        "r.version_bytes OR u.purged <> r.purged",
        {}, [](const catalog::Row& row) { return row.id(0); });
  });
  for (const Id& workspace : wrong) {
    context_.db.write(catalog::Scope::workspace(workspace), [&](catalog::Tx& tx) {
      tx.exec("DELETE FROM workspace_usage WHERE workspace = $1", {workspace});
      tx.exec(
          "INSERT INTO workspace_usage (workspace, messages, message_bytes, executions, execution_bytes, "
          "journal_bytes, entries, entry_bytes, versions, version_bytes, purged) SELECT workspace, messages, "
          "message_bytes, executions, execution_bytes, journal_bytes, entries, entry_bytes, versions, "
          "version_bytes, purged FROM workspace_records WHERE workspace = $1",
          {workspace});
    });
    problem("workspace " + workspace.with_prefix(prefix::workspace) +
            " counted its records wrongly; it is corrected");
  }
  auto owners = context_.db.read([&](catalog::Statements& statements) {
    return statements.all(
        "SELECT h.principal FROM principal_holdings h LEFT JOIN principal_usage u ON u.principal = "
        "h.principal WHERE u.principal IS NULL OR u.bytes <> h.bytes OR u.workspaces <> h.workspaces OR "
        "u.sessions <> h.sessions",
        {}, [](const catalog::Row& row) { return row.id(0); });
  });
  for (const Id& owner : owners) {
    context_.db.write(catalog::Scope::shared(), [&](catalog::Tx& tx) {
      tx.exec("DELETE FROM principal_usage WHERE principal = $1", {owner});
      tx.exec(
          "INSERT INTO principal_usage (principal, bytes, workspaces, sessions) SELECT principal, bytes, "
          "workspaces, sessions FROM principal_holdings WHERE principal = $1",
          {owner});
    });
    problem("principal " + owner.with_prefix(prefix::principal) +
            " counted its usage wrongly; it is corrected");
  }
  tell_progress();
}

void VerifyRun::journals() {
  struct Head {
    Id workspace;
    int64_t seq;
    Sha256 hash;
  };
  auto heads = context_.db.read([&](catalog::Statements& statements) {
    // The purge of a workspace deletes its journal from the beginning.
    return statements.all(
        "SELECT workspace, seq, hash FROM journals WHERE NOT EXISTS (SELECT 1 FROM purges p WHERE p.root = "
        "journals.workspace)",
        {}, [](const catalog::Row& row) { return Head{row.id(0), row.integer(1), row.hash(2)}; });
  });
  for (const Head& head : heads) {
    Sha256 previous;
    int64_t seq = 0;
    bool holds = true;
    context_.db.read([&](catalog::Statements& statements) {
      statements.query(
          "SELECT seq, time_us, kind, actor, facts, personal, salt, commitment, hash FROM journal WHERE "
          "workspace = $1 AND seq <= $2 ORDER BY seq",
          {head.workspace, head.seq}, [&](const catalog::Row& row) {
            JournalLine line;
            line.previous = previous;
            line.workspace = head.workspace;
            line.seq = row.integer(0);
            line.time_us = row.integer(1);
            std::string kind = row.str(2);
            line.kind = kind;
            line.actor = row.id(3);
            line.facts = row.str(4);
            line.commitment = row.hash(7);
            holds = line.seq == seq + 1 && hash_line(line) == row.hash(8) &&
                    (row.is_null(5) || commit_to(row.text(6), row.text(5)) == line.commitment);
            previous = row.hash(8);
            seq = line.seq;
            ++result_.journal_entries;
            return holds;
          });
    });
    if (!holds || seq != head.seq || previous != head.hash)
      problem("the journal of " + head.workspace.with_prefix(prefix::workspace) + " is broken at entry " +
              std::to_string(seq));
    tell_progress();
  }
}

}  // namespace sk::workspace
