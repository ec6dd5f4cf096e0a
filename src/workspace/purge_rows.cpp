#include "workspace/purge_rows.h"

#include "workspace/blob_ledger.h"
#include "workspace/retractions.h"
#include "workspace/workspace_rows.h"

namespace sk::workspace {

namespace {

constexpr size_t kBrokenLinksMax = 1'000;

}  // namespace

void purge_versions(ChangeRun& run, const std::vector<Version>& versions, PurgeResult& result) {
  for (const Version& version : versions) {
    uint64_t freed = BlobLedger::drop(run.tx(), run.workspace(), version.sha256);
    result.freed_bytes += freed;
    run.tx().exec(
        "INSERT INTO purged_versions (id, workspace, purged_us, file, head_us) "
        "SELECT id, workspace, $2, file, head_us FROM versions WHERE id = $1",
        {version.id, run.now_us()});
    run.note_rows().add_purged(1);
    run.tx().query(
        "DELETE FROM versions WHERE id = $1 RETURNING 2 * octet_length(mime) + "
        "COALESCE(octet_length(source_detail), 0), size",
        {version.id}, [&](const catalog::Row& row) {
          run.note_rows().add_version(row.integer(0), row.integer(1), -1);
          return true;
        });
    // Purged means that nothing is left to see. Where others have the same content, it is made anew.
    run.tx().exec("DELETE FROM thumbnails WHERE sha256 = $1", {version.sha256});
    ++result.versions;
    if (result.broken_links.size() < kBrokenLinksMax) result.broken_links.push_back(version);
  }
}

bool purge_entry(ChangeRun& run, const Id& id, int64_t versions_max, PurgeResult& result) {
  catalog::Tx& tx = run.tx();
  for (const auto& forget : run.context().on_purge) forget(tx, id);
  auto purge = [&](const std::vector<Version>& versions) {
    for (const Version& version : versions) Retractions::forget(tx, version.id);
    purge_versions(run, versions, result);
  };
  auto old = tx.all("SELECT " SK_VERSION_COLUMNS " FROM " SK_VERSION_TABLES
                    " WHERE v.file = $1 AND v.id <> e.head ORDER BY v.number LIMIT $2",
                    {id, versions_max}, read_version);
  purge(old);
  if (old.size() == static_cast<size_t>(versions_max)) {
    tx.exec("UPDATE entries SET version_count = version_count - $2 WHERE id = $1", {id, versions_max});
    return false;
  }
  purge(tx.all("SELECT " SK_VERSION_COLUMNS " FROM " SK_VERSION_TABLES " WHERE v.file = $1", {id},
               read_version));
  tx.query(
      "DELETE FROM placements WHERE workspace = $1 AND file = $2 RETURNING octet_length(parent) + "
      "octet_length(name)",
      {run.workspace(), id}, [&](const catalog::Row& row) {
        run.note_rows().add_places(-row.integer(0), -1);
        return true;
      });
  tx.exec("DELETE FROM attributes WHERE workspace = $1 AND file = $2", {run.workspace(), id});
  tx.query("DELETE FROM entries WHERE id = $1 RETURNING octet_length(parent) + octet_length(name)", {id},
           [&](const catalog::Row& row) {
             run.note_rows().add_entry(row.integer(0), -1);
             return true;
           });
  ++result.files;
  return true;
}

void add_result(PurgeResult& sum, PurgeResult part) {
  sum.files += part.files;
  sum.versions += part.versions;
  sum.freed_bytes += part.freed_bytes;
  for (auto& version : part.broken_links)
    if (sum.broken_links.size() < kBrokenLinksMax) sum.broken_links.push_back(std::move(version));
}

}  // namespace sk::workspace
