// Blob store on local disk: one file per blob, with contents verified on first read. Thread-safe; failures
// throw Error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>

#include "base/mutex.h"
#include "base/worker_pool.h"
#include "blobs/blob_tree.h"
#include "blobs/interleaved_sha256.h"
#include "blobs/location.h"
#include "blobs/store.h"

namespace sk::blobs {

// Must outlive its writers and their results.
class LocalStore final : public Store {
 public:
  using Hashing = InterleavedSha256::Use;
  explicit LocalStore(std::string directory, Hashing hashing = Hashing::best);

  std::unique_ptr<Writer> begin_write(KnownBlobs& known) override;
  OpenBlob open(const std::string& location, const Sha256& hash, uint64_t size) override;
  bool verify(const std::string& location, const Sha256& hash, uint64_t size) override;
  void remove(const std::string& location) override;
  std::optional<uint64_t> room() const override;  // free space of the disk
  void for_each(
      const std::function<bool(const std::string& location, uint64_t size, int64_t age_s)>& visit) override;
  Compressed compress(int64_t older_than_s, const std::function<bool()>& go_on) override;

 private:
  bool is_verified(const FileKey& key);
  void remember_verified(const FileKey& key);
  void forget_verified(const FileKey& key);

  const std::string directory_;
  const Hashing hashing_;
  BlobTree tree_;
  Mutex compress_mutex_;  // held during compress()
  Mutex mutex_;
  std::unordered_set<FileKey, FileKeyHash> verified_ SK_GUARDED_BY(mutex_);  // verified since the start
  WorkerPool pool_;  // hashes and writes for all writers
};

}  // namespace sk::blobs
