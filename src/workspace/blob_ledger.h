// Which blobs are kept, for whom, and how often: the catalog's side of content-addressed storage. Counts
// references so that the collector need not search, and counts each workspace's distinct bytes for its quota.
#pragma once

#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "base/clock.h"
#include "blobs/store.h"
#include "catalog/database.h"

namespace sk::workspace {

// Any thread. Writers pin hashes while they write; the collector dooms hashes before it deletes their rows.
// Both are decided under one mutex, so a writer never counts on a blob that is being deleted.
class BlobLedger final : public blobs::KnownBlobs {
 public:
  explicit BlobLedger(catalog::Database& db) : db_(db) {}

  bool pin(const Sha256& hash) override;
  void unpin(const Sha256& hash) override;
  bool is_pinned(const Sha256& hash) const;
  // How many distinct hashes are pinned.
  size_t pinned() const;

  struct Added {
    uint64_t grew_bytes = 0;  // of the workspace's distinct bytes
    std::vector<std::string>
        unneeded;  // locations that somebody else's equal blob made superfluous: remove them after the commit
  };
  // One more version of `workspace` has this content: records new blobs and counts references.
  static Added add(catalog::Tx& tx, const Id& workspace, const blobs::Written& written, TimeUs now_us);
  // The same for a content that is kept already, as by copy and restore.
  static uint64_t add_known(catalog::Tx& tx, const Id& workspace, const Sha256& content);
  // One version less; how many bytes the workspace shrank by.
  static uint64_t drop(catalog::Tx& tx, const Id& workspace, const Sha256& content);

  static std::optional<blobs::Blob> find(catalog::Statements& statements, const Sha256& hash);

  // Of `hashes`, those that no writer has pinned; they count as not kept from now until undoom().
  std::vector<Sha256> doom(const std::vector<Sha256>& hashes);
  void undoom(const std::vector<Sha256>& hashes);

 private:
  catalog::Database& db_;
  mutable std::mutex mutex_;
  std::unordered_map<Sha256, int> pins_;  // guarded by mutex_
  std::unordered_set<Sha256> doomed_;     // guarded by mutex_
};

}  // namespace sk::workspace
