// Content-addressed storage. A *blob* is bytes named by their SHA-256. It is stored inline in the catalog
// (small), as a file of this store, or as a list of other blobs. A file over 1 MiB becomes a list, cut by
// content, so its versions share unchanged chunks.
//
// This room writes and reads bytes. The catalog knows which blobs exist and which are needed; this room asks
// it through KnownBlobs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/hash.h"

namespace sk::blobs {

constexpr size_t kInlineBytesMax = 128 << 10;  // blobs up to this size are stored in their catalog row
constexpr size_t kWholeBytesMax = 1 << 20;     // files up to this size are one blob

enum class Kind : int { inline_bytes = 0, file = 1, list = 2 };

// Catalog record of one blob.
struct Blob {
  Sha256 hash;
  uint64_t size = 0;
  Kind kind = Kind::inline_bytes;
  std::string bytes;     // inline_bytes: the content; list: the encoded pieces (see STORAGE_FORMAT.md)
  std::string location;  // file: a unique name in the store, never reused
  bool known = false;    // already in the catalog; nothing was written
};

struct PieceRef {
  Sha256 hash;
  uint32_t size;
};
std::string encode_pieces(const std::vector<PieceRef>& pieces);
std::vector<PieceRef> decode_pieces(std::string_view text);  // throws Error(corrupt)

// Interface to the catalog for writers. pin() returns whether the blob is already stored, and keeps it from
// garbage collection until unpin(). Unknown hashes are pinned too, so concurrent writers and the collector
// agree. A pin() that throws has pinned nothing; unpin() does not throw. Thread-safe.
class KnownBlobs {
 public:
  virtual ~KnownBlobs() = default;
  virtual bool pin(const Sha256& hash) = 0;
  virtual void unpin(const Sha256& hash) = 0;
};

// Pins a hash and unpins it on destruction. `known` must outlive it.
class Pin {
 public:
  // Throws any exception of KnownBlobs::pin().
  Pin(KnownBlobs& known, const Sha256& hash) : hash_(hash), kept_(known.pin(hash)), known_(&known) {}
  Pin(Pin&& other) noexcept
      : hash_(other.hash_), kept_(other.kept_), known_(std::exchange(other.known_, nullptr)) {}
  Pin& operator=(Pin&&) = delete;
  ~Pin() {
    if (known_ != nullptr) known_->unpin(hash_);
  }
  // Returns whether the blob was already stored when it was pinned.
  bool kept() const { return kept_; }

 private:
  const Sha256 hash_;
  const bool kept_;
  KnownBlobs* known_;
};

// Durable result of one write. `root` names the whole content. `pieces` are the other blobs that a list root
// needs, each once. They are listed even if the root is known, because the collector may already have removed
// some. Keep this object alive until the catalog has committed: it holds its pins until destroyed. Without
// commit(), the destructor removes the files.
class Written {
 public:
  Written();
  Written(Written&&) noexcept;
  Written& operator=(Written&&) noexcept;
  ~Written();
  const Blob& root() const;
  const std::vector<Blob>& pieces() const;
  // Call after the catalog has recorded the blobs; the catalog now owns their files.
  void commit();

  struct Impl;
  explicit Written(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

// Writes the bytes of one file in order. Nothing is durable until finish() returns. Destroyed before that, it
// leaves nothing behind. Not thread-safe. Memory use is bounded for any size.
class Writer {
 public:
  virtual ~Writer() = default;
  // Throws Error(disk_full) when there is no space.
  virtual void write(Bytes bytes) = 0;
  virtual uint64_t size() const = 0;
  // Syncs all files together, then their directories. Throws Error(disk_full) when there is no space. Dies
  // when a sync fails for another reason.
  virtual Written finish() = 0;
};

// Open blob of kind `file`.
struct OpenBlob {
  std::shared_ptr<Fd> file;
  uint64_t size = 0;
};

// Result of Store::compress().
struct Compressed {
  uint64_t files_tried = 0;
  uint64_t files_compressed = 0;
  uint64_t bytes_before = 0;  // of the compressed files
  uint64_t bytes_after = 0;
};

// Storage of blob files: the local disk. A remote store would need a local cache, because open() returns a
// descriptor. Every implementation passes tests/unit/blobs/store_conformance.h. Thread-safe.
class Store {
 public:
  virtual ~Store() = default;
  // `known` and the store must outlive the writer and its result.
  virtual std::unique_ptr<Writer> begin_write(KnownBlobs& known) = 0;
  // Opens a blob's file. Verifies its bytes against `hash` the first time since the start. Throws
  // Error(corrupt) when they differ or are missing.
  virtual OpenBlob open(const std::string& location, const Sha256& hash, uint64_t size) = 0;
  // Reads and hashes the blob even if it was verified before. Returns false if it is missing or different.
  virtual bool verify(const std::string& location, const Sha256& hash, uint64_t size) = 0;
  // A missing file is not an error.
  virtual void remove(const std::string& location) = 0;
  // Returns how many bytes new blobs may take at present; nullopt if that is unlimited or unknown.
  virtual std::optional<uint64_t> room() const = 0;
  // Visits every location with its size on disk and its age, to find orphans. Stops when `visit` returns
  // false.
  virtual void for_each(
      const std::function<bool(const std::string& location, uint64_t size, int64_t age_s)>& visit) = 0;
  // Compresses blobs older than this where that saves space, one by one, while go_on() returns true. Intended
  // for a background thread. Locations and the results of open() do not change. The default does nothing.
  virtual Compressed compress(int64_t older_than_s, const std::function<bool()>& go_on);
};

// Opens a store in `directory`, and creates it if missing. Removes the remains of unfinished writes.
std::unique_ptr<Store> open_local_store(const std::string& directory);

}  // namespace sk::blobs
