#include "workspace/blob_ledger.h"

#include "base/error.h"

namespace sk::workspace {

namespace {

using blobs::Blob;
using blobs::Kind;

// Returns true if the row is new, false if an equal blob was recorded in the meantime.
bool insert_blob(catalog::Tx& tx, const Blob& blob, int refs, TimeUs now_us) {
  bool in_row = blob.kind != Kind::file;
  return tx.exec(
             "INSERT INTO blobs (hash, size, kind, refs, location, checked_us, bytes) VALUES ($1, $2, $3, "
             "$4, $5, $6, $7) "
             "ON CONFLICT (hash) DO NOTHING",
             {blob.hash, blob.size, static_cast<int>(blob.kind), refs,
              in_row ? catalog::Param(nullptr) : catalog::Param(blob.location), now_us,
              in_row ? catalog::Param::raw(blob.bytes) : catalog::Param(nullptr)}) == 1;
}

uint64_t add_pieces(catalog::Tx& tx, const Id& workspace, std::string_view pieces);

uint64_t add_reference(catalog::Tx& tx, const Id& workspace, const Sha256& hash) {
  auto refs = tx.one(
      "INSERT INTO workspace_blobs (workspace, hash, refs) VALUES ($1, $2, 1) "
      "ON CONFLICT (workspace, hash) DO UPDATE SET refs = workspace_blobs.refs + 1 RETURNING refs",
      {workspace, hash}, [](const catalog::Row& row) { return row.integer(0); });
  if (*refs > 1) return 0;
  struct Found {
    uint64_t size;
    Kind kind;
    std::string pieces;
  };
  auto blob = tx.one(
      "UPDATE blobs SET refs = refs + 1 WHERE hash = $1 RETURNING size, kind, CASE WHEN kind = 2 THEN bytes "
      "END",
      {hash}, [](const catalog::Row& row) {
        return Found{static_cast<uint64_t>(row.integer(0)), static_cast<Kind>(row.integer(1)), row.str(2)};
      });
  if (!blob) throw Error(Code::internal, "blob " + hash.hex() + " is not in the catalog");
  return blob->kind == Kind::list ? add_pieces(tx, workspace, blob->pieces) : blob->size;
}

uint64_t add_pieces(catalog::Tx& tx, const Id& workspace, std::string_view pieces) {
  uint64_t grew = 0;
  for (const auto& piece : blobs::decode_pieces(pieces)) grew += add_reference(tx, workspace, piece.hash);
  return grew;
}

// For a blob whose row was inserted with one reference.
uint64_t add_first_reference(catalog::Tx& tx, const Id& workspace, const Blob& blob) {
  tx.exec("INSERT INTO workspace_blobs (workspace, hash, refs) VALUES ($1, $2, 1)", {workspace, blob.hash});
  return blob.kind == Kind::list ? add_pieces(tx, workspace, blob.bytes) : blob.size;
}

uint64_t drop_reference(catalog::Tx& tx, const Id& workspace, const Sha256& hash) {
  auto refs =
      tx.one("UPDATE workspace_blobs SET refs = refs - 1 WHERE workspace = $1 AND hash = $2 RETURNING refs",
             {workspace, hash}, [](const catalog::Row& row) { return row.integer(0); });
  if (!refs) throw Error(Code::internal, "blob " + hash.hex() + " is not counted for its workspace");
  if (*refs > 0) return 0;
  tx.exec("DELETE FROM workspace_blobs WHERE workspace = $1 AND hash = $2", {workspace, hash});
  tx.exec("UPDATE blobs SET refs = refs - 1 WHERE hash = $1", {hash});
  auto blob = BlobLedger::find(tx, hash);
  if (!blob) throw Error(Code::internal, "blob " + hash.hex() + " is not in the catalog");
  if (blob->kind != Kind::list) return blob->size;
  uint64_t shrank = 0;
  for (const auto& piece : blobs::decode_pieces(blob->bytes))
    shrank += drop_reference(tx, workspace, piece.hash);
  return shrank;
}

}  // namespace

bool BlobLedger::pin(const Sha256& hash) {
  {
    MutexLock lock(mutex_);
    ++pins_[hash];
    if (doomed_.contains(hash)) return false;
  }
  try {
    return db_.read([&](catalog::Statements& statements) {
      return statements.query("SELECT 1 FROM blobs WHERE hash = $1", {hash},
                              [](const catalog::Row&) { return false; }) > 0;
    });
  } catch (...) {
    unpin(hash);
    throw;
  }
}

void BlobLedger::unpin(const Sha256& hash) {
  MutexLock lock(mutex_);
  auto found = pins_.find(hash);
  SK_CHECK(found != pins_.end(), hash.hex());
  if (--found->second == 0) pins_.erase(found);
}

bool BlobLedger::is_pinned(const Sha256& hash) const {
  MutexLock lock(mutex_);
  return pins_.contains(hash);
}

size_t BlobLedger::pinned() const {
  MutexLock lock(mutex_);
  return pins_.size();
}

catalog::Database::Before BlobLedger::recorder(blobs::Store& store, std::vector<blobs::Written*> contents) {
  return [&store, contents = std::move(contents)](catalog::Tx& tx) {
    std::vector<std::string> unneeded;
    auto record = [&](const Blob& blob) {
      if (blob.known || insert_blob(tx, blob, 0, tx.now_us()) || blob.kind != Kind::file) return;
      if (find(tx, blob.hash)->location != blob.location) unneeded.push_back(blob.location);
    };
    for (const auto* written : contents) {
      for (const Blob& piece : written->pieces()) record(piece);
      record(written->root());
    }
    tx.after_commit([&store, contents, unneeded = std::move(unneeded)] {
      for (auto* written : contents) written->commit();
      for (const auto& location : unneeded) store.remove(location);
    });
  };
}

BlobLedger::Added BlobLedger::add(catalog::Tx& tx, const Id& workspace, const blobs::Written& written,
                                  TimeUs now_us) {
  Added added;
  auto record = [&](const Blob& blob, int refs) {
    if (blob.known) return false;
    if (insert_blob(tx, blob, refs, now_us)) return true;
    // A transaction may put one content twice, for example as two names of a file. Its own file is then the
    // one that is recorded.
    if (blob.kind == Kind::file && find(tx, blob.hash)->location != blob.location)
      added.unneeded.push_back(blob.location);
    return false;
  };
  for (const Blob& piece : written.pieces()) record(piece, 0);
  const Blob& root = written.root();
  // New content, the common case, takes two statements.
  added.grew_bytes =
      record(root, 1) ? add_first_reference(tx, workspace, root) : add_reference(tx, workspace, root.hash);
  return added;
}

uint64_t BlobLedger::add_known(catalog::Tx& tx, const Id& workspace, const Sha256& content) {
  return add_reference(tx, workspace, content);
}

uint64_t BlobLedger::drop(catalog::Tx& tx, const Id& workspace, const Sha256& content) {
  return drop_reference(tx, workspace, content);
}

std::optional<Blob> BlobLedger::find(catalog::Statements& statements, const Sha256& hash) {
  // Readers fetch the bytes of an inline blob themselves; callers here need only the pieces of a list.
  return statements.one(
      "SELECT size, kind, location, CASE WHEN kind = 2 THEN bytes END FROM blobs WHERE hash = $1", {hash},
      [&](const catalog::Row& row) {
        Blob blob;
        blob.hash = hash;
        blob.size = static_cast<uint64_t>(row.integer(0));
        blob.kind = static_cast<Kind>(row.integer(1));
        blob.location = row.str(2);
        blob.bytes = row.str(3);
        blob.known = true;
        return blob;
      });
}

std::vector<Sha256> BlobLedger::doom(const std::vector<Sha256>& hashes) {
  MutexLock lock(mutex_);
  std::vector<Sha256> result;
  result.reserve(hashes.size());
  doomed_.reserve(doomed_.size() + hashes.size());
  try {
    for (const auto& hash : hashes)
      if (!pins_.contains(hash) && doomed_.insert(hash).second) result.push_back(hash);
  } catch (...) {
    for (const auto& hash : result) doomed_.erase(hash);
    throw;
  }
  return result;
}

void BlobLedger::undoom(const std::vector<Sha256>& hashes) {
  MutexLock lock(mutex_);
  for (const auto& hash : hashes) doomed_.erase(hash);
}

}  // namespace sk::workspace
