// What the tests of this room share: folders that go away, random bytes, and a catalog in memory.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "blobs/store.h"

namespace sk::blobs::test {

class TemporaryFolder {
 public:
  enum class Where { disk, memory };
  explicit TemporaryFolder(Where where = Where::disk) {
    const bool in_memory = where == Where::memory && std::filesystem::is_directory("/dev/shm");
    const auto parent =
        in_memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
    std::string name = (parent / "sandkeep-blobs-XXXXXX").string();
    SK_CHECK(::mkdtemp(name.data()) != nullptr, name);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The same bytes for the same seed.
inline std::string random_bytes(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string out(size, '\0');
  for (size_t at = 0; at < size; at += 8) {
    const uint64_t word = random();
    std::memcpy(out.data() + at, &word, std::min<size_t>(8, size - at));
  }
  return out;
}

template <class Act>
std::optional<Code> code_of(const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

// The catalog's part of the contract, in memory. Any thread.
class MemoryCatalog : public KnownBlobs {
 public:
  bool pin(const Sha256& hash) override {
    MutexLock lock(mutex_);
    ++pins_[hash];
    return blobs_.contains(hash);
  }
  void unpin(const Sha256& hash) override {
    MutexLock lock(mutex_);
    auto found = pins_.find(hash);
    SK_CHECK(found != pins_.end(), "unpinned what was not pinned");
    if (--found->second == 0) pins_.erase(found);
  }

  // Records what was written, as the catalog's transaction does: where another writer was first, its file
  // counts.
  void commit(Store& store, Written& written) {
    MutexLock lock(mutex_);
    const auto record = [&](const Blob& blob) SK_REQUIRES(mutex_) {
      if (blob.known) {
        SK_CHECK(blobs_.contains(blob.hash), "the writer takes for known what is not");
      } else if (!blobs_.emplace(blob.hash, blob).second && blob.kind == Kind::file) {
        store.remove(blob.location);
      }
    };
    for (const auto& piece : written.pieces()) record(piece);
    record(written.root());
    written.commit();
  }

  size_t pin_count() {
    MutexLock lock(mutex_);
    return pins_.size();
  }
  Blob blob(const Sha256& hash) {
    MutexLock lock(mutex_);
    SK_CHECK(blobs_.contains(hash), hash.hex());
    return blobs_.at(hash);
  }
  std::vector<Blob> files() {
    MutexLock lock(mutex_);
    std::vector<Blob> out;
    for (const auto& [hash, found] : blobs_)
      if (found.kind == Kind::file) out.push_back(found);
    return out;
  }

  // The whole content of a root, read through the store.
  std::string read(Store& store, const Sha256& root) {
    const Blob found = blob(root);
    if (found.kind == Kind::inline_bytes) return found.bytes;
    if (found.kind == Kind::file) return read_file_blob(store, found);
    std::string out;
    for (const auto& piece : decode_pieces(found.bytes)) {
      const size_t before = out.size();
      out += read(store, piece.hash);
      SK_CHECK(out.size() - before == piece.size);
    }
    return out;
  }

 private:
  static std::string read_file_blob(Store& store, const Blob& found) {
    const auto open = store.open(found.location, found.hash, found.size);
    std::string out(open.size, '\0');
    SK_CHECK(read_at(open.file->get(), std::as_writable_bytes(std::span(out)), 0, "the blob") == open.size);
    return out;
  }

  Mutex mutex_;
  std::map<Sha256, int> pins_ SK_GUARDED_BY(mutex_);
  std::map<Sha256, Blob> blobs_ SK_GUARDED_BY(mutex_);
};

inline Written write_content(Store& store, KnownBlobs& known, std::string_view content,
                             size_t bytes_per_write = 256 << 10) {
  auto writer = store.begin_write(known);
  for (size_t at = 0; at < content.size(); at += bytes_per_write)
    writer->write(as_bytes(content.substr(at, bytes_per_write)));
  EXPECT_EQ(writer->size(), content.size());
  return writer->finish();
}

inline Sha256 keep(Store& store, MemoryCatalog& catalog, std::string_view content) {
  auto written = write_content(store, catalog, content);
  catalog.commit(store, written);
  return written.root().hash;
}

inline std::map<std::string, uint64_t> list_files(Store& store) {
  std::map<std::string, uint64_t> out;
  store.for_each([&](const std::string& location, uint64_t size, int64_t age_s) {
    EXPECT_TRUE(out.emplace(location, size).second) << location << " was listed twice";
    EXPECT_GE(age_s, 0);
    EXPECT_LT(age_s, 3600);
    return true;
  });
  return out;
}

}  // namespace sk::blobs::test
