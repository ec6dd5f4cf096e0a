#include "workspace/upkeep.h"

#include "base/error.h"
#include "base/log.h"
#include "blobs/location.h"
#include "workspace/blob_ledger.h"
#include "workspace/journal_hash.h"
#include "workspace/verify_run.h"

namespace sk::workspace {

namespace {
constexpr size_t kBatch = 500;

// Runs even if the disk fails in between. A hash that stayed doomed would be stored again by every write.
struct Undoom {
  BlobLedger& ledger;
  const std::vector<Sha256>& hashes;
  ~Undoom() { ledger.undoom(hashes); }
};

}  // namespace

CollectResult Upkeep::collect(int64_t orphan_age_s) {
  MutexLock one_at_a_time(collecting_);
  CollectResult result;
  Sha256 after;
  for (bool more = true; more;) {
    auto candidates = context_.db.read([&](catalog::Statements& statements) {
      return statements.all("SELECT hash FROM blobs WHERE refs = 0 AND hash > $1 ORDER BY hash LIMIT $2",
                            {after, kBatch}, [](const catalog::Row& row) { return row.hash(0); });
    });
    more = candidates.size() == kBatch;
    if (!candidates.empty()) after = candidates.back();
    // Between doom() and undoom(), writers treat these blobs as not stored and write their own copy. The row
    // can therefore be deleted before the file.
    auto doomed = context_.ledger.doom(candidates);
    Undoom in_the_end{context_.ledger, doomed};
    struct Gone {
      std::string location;
      int64_t size;
    };
    auto gone = context_.db.write(catalog::Scope::shared(), [&](catalog::Tx& tx) {
      std::vector<Gone> deleted;
      for (const auto& hash : doomed)
        if (auto one =
                tx.one("DELETE FROM blobs WHERE hash = $1 AND refs = 0 RETURNING location, size", {hash},
                       [](const catalog::Row& row) { return Gone{row.str(0), row.integer(1)}; }))
          deleted.push_back(std::move(*one));
      return deleted;
    });
    for (const auto& one : gone) {
      ++result.blobs;
      result.freed_bytes += static_cast<uint64_t>(one.size);
      if (!one.location.empty()) context_.blobs.remove(one.location);
    }
  }
  // Files that no row names remain after a crash between rename and commit. Younger files and files of a
  // pinned hash may belong to a write in progress. Check pins before rows: a write that is no longer pinned
  // has already committed its rows or has failed.
  std::vector<std::pair<std::string, uint64_t>> old;
  context_.blobs.for_each([&](const std::string& location, uint64_t size, int64_t age_s) {
    if (age_s >= orphan_age_s) old.emplace_back(location, size);
    return true;
  });
  std::erase_if(old, [&](const auto& file) { return context_.ledger.is_pinned(blobs::hash_in(file.first)); });
  std::sort(old.begin(), old.end());
  if (!old.empty()) {
    std::vector<std::string> named = context_.db.read([&](catalog::Statements& statements) {
      return statements.all("SELECT location FROM blobs WHERE location IS NOT NULL", {},
                            [](const catalog::Row& row) { return row.str(0); });
    });
    std::sort(named.begin(), named.end());
    for (const auto& [location, size] : old) {
      if (std::binary_search(named.begin(), named.end(), location)) continue;
      context_.blobs.remove(location);
      ++result.orphans;
      result.freed_bytes += size;
    }
  }
  return result;
}

VerifyResult Upkeep::verify(const std::function<bool(const VerifyResult&)>& progress) {
  MutexLock one_at_a_time(verifying_);
  VerifyRun run(context_, progress);
  run.blobs();
  run.references();
  run.counts();
  run.usage();
  run.journals();
  return run.result();
}

void Upkeep::scrub_slice(uint64_t bytes_max) {
  struct Row {
    Sha256 hash;
    uint64_t size;
    std::string location;
  };
  auto slice = context_.db.read([&](catalog::Statements& statements) {
    return statements.all(
        "SELECT hash, size, location FROM blobs WHERE kind = 1 ORDER BY checked_us LIMIT 200", {},
        [](const catalog::Row& row) {
          return Row{row.hash(0), static_cast<uint64_t>(row.integer(1)), row.str(2)};
        });
  });
  uint64_t bytes = 0;
  std::vector<Sha256> checked;
  for (const Row& row : slice) {
    if (bytes >= bytes_max) break;
    bytes += row.size;
    if (!context_.blobs.verify(row.location, row.hash, row.size)) {
      // The collector may have deleted it since the query.
      bool still_there = context_.db.read([&](catalog::Statements& statements) {
        return statements.query("SELECT 1 FROM blobs WHERE hash = $1 AND location = $2",
                                {row.hash, row.location}, [](const catalog::Row&) { return false; }) > 0;
      });
      if (still_there) {
        log::error("a stored blob does not match its hash",
                   {{"sha256", row.hash.hex()}, {"location", row.location}});
        context_.metrics
            .counter("sandkeep_corrupt_blobs_total",
                     "Blobs whose bytes did not match their hash when they were re-read")
            .add();
      }
    }
    checked.push_back(row.hash);
  }
  if (checked.empty()) return;
  context_.db.write(catalog::Scope::shared(), [&](catalog::Tx& tx) {
    for (const auto& hash : checked)
      tx.exec("UPDATE blobs SET checked_us = $2 WHERE hash = $1", {hash, tx.now_us()});
  });
}

}  // namespace sk::workspace
