// The catalog's records of stored blobs: which are stored, and how many versions of which workspace use them.
// Reference counts save the collector a search. Each workspace's distinct bytes are counted for its quota.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "base/clock.h"
#include "base/mutex.h"
#include "blobs/store.h"
#include "catalog/database.h"

namespace sk::workspace {

// Any thread. Writers pin hashes while they write; the collector dooms hashes before it deletes their rows.
// One mutex guards both sets, so a writer never relies on a blob that is being deleted.
class BlobLedger final : public blobs::KnownBlobs {
 public:
  explicit BlobLedger(catalog::Database& db) : db_(db) {}

  bool pin(const Sha256& hash) override;
  void unpin(const Sha256& hash) override;
  bool is_pinned(const Sha256& hash) const;
  // Number of distinct hashes that are pinned.
  size_t pinned() const;

  struct Added {
    uint64_t grew_bytes = 0;            // growth of the workspace's distinct bytes
    std::vector<std::string> unneeded;  // files made redundant by an equal blob; remove them after the commit
  };
  // The part of add() that needs no workspace, to be committed before it: records new blobs, without a
  // reference. From then on their files belong to the catalog, and the collector removes them if no version
  // follows. Refers to `contents`.
  static catalog::Database::Before recorder(blobs::Store& store, std::vector<blobs::Written*> contents);
  // Records new blobs and adds a reference from one more version of `workspace`.
  static Added add(catalog::Tx& tx, const Id& workspace, const blobs::Written& written, TimeUs now_us);
  // Adds a reference to content that is already stored, as for copy and restore. Returns the growth of the
  // workspace's distinct bytes.
  static uint64_t add_known(catalog::Tx& tx, const Id& workspace, const Sha256& content);
  // Removes the reference of one version. Returns the number of bytes by which the workspace shrank.
  static uint64_t drop(catalog::Tx& tx, const Id& workspace, const Sha256& content);

  static std::optional<blobs::Blob> find(catalog::Statements& statements, const Sha256& hash);

  // Returns those of `hashes` that no writer has pinned. Until undoom(), pin() reports them as not stored.
  std::vector<Sha256> doom(const std::vector<Sha256>& hashes);
  void undoom(const std::vector<Sha256>& hashes);

 private:
  catalog::Database& db_;
  mutable Mutex mutex_;
  std::unordered_map<Sha256, int> pins_ SK_GUARDED_BY(mutex_);
  std::unordered_set<Sha256> doomed_ SK_GUARDED_BY(mutex_);
};

}  // namespace sk::workspace
