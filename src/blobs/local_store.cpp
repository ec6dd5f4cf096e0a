#include "blobs/local_store.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "blobs/aside_files.h"
#include "blobs/blob_file.h"
#include "blobs/compressor.h"
#include "blobs/content_writer.h"

namespace sk::blobs {

namespace {

// Size of the cache of verified blobs (about half a terabyte of large files). When full, it is cleared, which
// only costs a second verification.
constexpr size_t kVerifiedMax = 1 << 18;

// Hashing occupies a core; writing and syncing wait for the disk. One thread more than cores, within bounds.
size_t thread_count() { return std::clamp<size_t>(std::thread::hardware_concurrency() + 1, 3, 8); }

}  // namespace

std::unique_ptr<Store> open_local_store(const std::string& directory) {
  return std::make_unique<LocalStore>(directory);
}

LocalStore::LocalStore(std::string directory, Hashing hashing)
    : directory_(std::move(directory)), hashing_(hashing), tree_(directory_), pool_(thread_count(), 0) {}

std::unique_ptr<Writer> LocalStore::begin_write(KnownBlobs& known) {
  const ContentWriter::Needs needs{.store = *this, .known = known, .pool = pool_, .hashing = hashing_};
  return std::make_unique<ContentWriter>(needs, std::make_unique<AsideFiles>(tree_));
}

OpenBlob LocalStore::open(const std::string& location, const Sha256& hash, uint64_t size) {
  const auto path = tree_.path_of(location);
  const auto corrupt = [&](std::string_view how) {
    return Error(Code::corrupt, "the file of the blob " + hash.hex() + " " + std::string(how))
        .with("location", location);
  };
  auto file = open_blob_file(path);
  if (!file) throw corrupt("is missing");
  if (hash_in(location) != hash) throw corrupt("is another blob's");
  if (!may_have_size(*file, size)) throw corrupt("has another size");

  const auto key = file_key(location);
  const bool verified = is_verified(key);
  if (file->form == BlobFile::Form::compressed) {
    auto unpacked = unpack(*file, verified ? std::nullopt : std::optional(hash), size);
    if (!unpacked) throw corrupt("has other bytes");
    file->fd = std::move(*unpacked);
  } else if (!verified && !has_content(*file, hash, size)) {
    throw corrupt("has other bytes");
  }
  if (!verified) remember_verified(key);
  return {.file = std::make_shared<Fd>(std::move(file->fd)), .size = size};
}

bool LocalStore::verify(const std::string& location, const Sha256& hash, uint64_t size) {
  const auto file = open_blob_file(tree_.path_of(location));
  const bool good = file && has_content(*file, hash, size);
  if (!good) forget_verified(file_key(location));
  return good;
}

void LocalStore::remove(const std::string& location) {
  tree_.remove(location);
  forget_verified(file_key(location));
}

std::optional<uint64_t> LocalStore::room() const {
  struct statvfs disk{};
  if (::statvfs(directory_.c_str(), &disk) != 0) return std::nullopt;
  return static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize;
}

void LocalStore::for_each(
    const std::function<bool(const std::string& location, uint64_t size, int64_t age_s)>& visit) {
  tree_.visit([&](const BlobTree::File& file) {
    // A blob that exists in both forms is listed once, as the plain one.
    if (file.compressed && ::access(tree_.path_of(file.location).c_str(), F_OK) == 0) return true;
    return visit(file.location, file.disk_bytes, file.age_s);
  });
}

Compressed LocalStore::compress(int64_t older_than_s, const std::function<bool()>& go_on) {
  MutexLock lock(compress_mutex_);
  return compress_files(tree_, older_than_s, go_on);
}

bool LocalStore::is_verified(const FileKey& key) {
  MutexLock lock(mutex_);
  return verified_.contains(key);
}

void LocalStore::remember_verified(const FileKey& key) {
  MutexLock lock(mutex_);
  if (verified_.size() >= kVerifiedMax) verified_.clear();
  verified_.insert(key);
}

void LocalStore::forget_verified(const FileKey& key) {
  MutexLock lock(mutex_);
  verified_.erase(key);
}

}  // namespace sk::blobs
