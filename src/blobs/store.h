// Content-addressed bytes. A *blob* is bytes named by their SHA-256: kept inline by the catalog (small), as a
// file of this store, or as a list of other blobs (a file over 1 MiB, split where its content says so that
// versions share what did not change).
//
// This room writes and reads bytes; which blobs exist and who needs them is the catalog's knowledge, reached
// through KnownBlobs.
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

constexpr size_t kInlineBytesMax = 128 << 10;  // up to this size a blob's bytes travel in its catalog row
constexpr size_t kWholeBytesMax = 1 << 20;     // up to this size a file is one blob

enum class Kind : int { inline_bytes = 0, file = 1, list = 2 };

// One blob as the catalog records it.
struct Blob {
  Sha256 hash;
  uint64_t size = 0;
  Kind kind = Kind::inline_bytes;
  std::string bytes;     // inline_bytes: the content; list: the encoded pieces (see STORAGE_FORMAT.md)
  std::string location;  // file: a unique, never reused name below the store
  bool known = false;    // it was in the catalog already; nothing was written
};

struct PieceRef {
  Sha256 hash;
  uint32_t size;
};
std::string encode_pieces(const std::vector<PieceRef>& pieces);
std::vector<PieceRef> decode_pieces(std::string_view text);  // throws Error(corrupt)

// What a writer asks while it writes. pin() says whether the blob is kept already and, if it is, holds off
// the collector until unpin(); a hash that is not kept is pinned too, so that two writers and the collector
// agree. A pin() that throws has pinned nothing; unpin() does not throw. Any thread.
class KnownBlobs {
 public:
  virtual ~KnownBlobs() = default;
  virtual bool pin(const Sha256& hash) = 0;
  virtual void unpin(const Sha256& hash) = 0;
};

// A pinned hash, unpinned by the destructor. `known` outlives it.
class Pin {
 public:
  // Throws what KnownBlobs::pin() throws.
  Pin(KnownBlobs& known, const Sha256& hash) : hash_(hash), kept_(known.pin(hash)), known_(&known) {}
  Pin(Pin&& other) noexcept
      : hash_(other.hash_), kept_(other.kept_), known_(std::exchange(other.known_, nullptr)) {}
  Pin& operator=(Pin&&) = delete;
  ~Pin() {
    if (known_ != nullptr) known_->unpin(hash_);
  }
  // Whether the blob was kept already when it was pinned.
  bool kept() const { return kept_; }

 private:
  const Sha256 hash_;
  const bool kept_;
  KnownBlobs* known_;
};

// The durable result of one write: `root` names the whole content; `pieces` are the further blobs that a list
// root needs, each once, also when the root is known: the collector may have taken some of them already.
// Holds its pins until destroyed, so keep it alive until the catalog has committed.
// Files that the catalog did not take over (commit() not called) are unlinked by the destructor.
class Written {
 public:
  Written();
  Written(Written&&) noexcept;
  Written& operator=(Written&&) noexcept;
  ~Written();
  const Blob& root() const;
  const std::vector<Blob>& pieces() const;
  // The catalog has recorded these blobs: their files now belong to it.
  void commit();

  struct Impl;
  explicit Written(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

// Takes one file's bytes in order. Not yet durable until finish() returns; destroyed before that, it leaves
// nothing behind. One thread at a time. Memory use is bounded whatever the size.
class Writer {
 public:
  virtual ~Writer() = default;
  // Throws Error(disk_full) when there is no room.
  virtual void write(Bytes bytes) = 0;
  virtual uint64_t size() const = 0;
  // Everything fsynced (files together, then their directories). Dies when a sync fails.
  virtual Written finish() = 0;
};

// Reads a blob of kind `file`.
struct OpenBlob {
  std::shared_ptr<Fd> file;
  uint64_t size = 0;
};

// What Store::compress() did.
struct Compressed {
  uint64_t files_tried = 0;
  uint64_t files_compressed = 0;
  uint64_t bytes_before = 0;  // of those compressed
  uint64_t bytes_after = 0;
};

// Where blob files live: the local disk. A store elsewhere needs a local cache, since open() gives a
// descriptor. Every implementation passes
// tests/unit/blobs/store_conformance.h. Any thread.
class Store {
 public:
  virtual ~Store() = default;
  // `known` and the store outlive the writer and what it wrote.
  virtual std::unique_ptr<Writer> begin_write(KnownBlobs& known) = 0;
  // Opens a blob's file and, the first time since start, verifies its bytes against `hash`: Error(corrupt) if
  // they differ or are missing.
  virtual OpenBlob open(const std::string& location, const Sha256& hash, uint64_t size) = 0;
  // Reads and hashes regardless of what was verified before; false if missing or different.
  virtual bool verify(const std::string& location, const Sha256& hash, uint64_t size) = 0;
  // Removing what is not there is not an error.
  virtual void remove(const std::string& location) = 0;
  // Every location with the bytes that it takes up and its age, for finding orphans; `visit` returns false to
  // stop.
  virtual void for_each(
      const std::function<bool(const std::string& location, uint64_t size, int64_t age_s)>& visit) = 0;
  // Stores what is older than this in less room where that pays, one blob after the other while go_on() says
  // so; for a background thread. Locations and what open() gives do not change. A store that has no use for
  // it does nothing.
  virtual Compressed compress(int64_t older_than_s, const std::function<bool()>& go_on);
};

// Blob files below `directory`, which is created. Left-overs of unfinished writes are removed at
// construction.
std::unique_ptr<Store> open_local_store(const std::string& directory);

}  // namespace sk::blobs
