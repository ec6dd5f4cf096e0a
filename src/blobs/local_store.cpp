#include "blobs/local_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>

#include "base/error.h"
#include "blobs/aside_files.h"
#include "blobs/content_writer.h"
#include "blobs/location.h"

namespace sk::blobs {

namespace {

constexpr size_t kReadBytes = 256 << 10;
// What was verified is remembered for this many blobs (about half a terabyte of large files); then it starts
// anew, which only costs a second verification.
constexpr size_t kVerifiedMax = 1 << 18;

void make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    throw system_error("cannot make the directory " + path, errno);
}

// Also makes what is missing above `path`, as durable as `path` itself.
void make_directories_durably(const std::filesystem::path& path) {
  std::error_code ignored;
  if (path.empty() || std::filesystem::is_directory(path, ignored)) return;
  make_directories_durably(path.parent_path());
  make_directory(path.string());
  fsync_directory(path.parent_path().string());
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// Calls visit(name) for each entry until it returns false; true when all were visited.
template <class Visit>
bool visit_directory(const std::string& path, const Visit& visit) {
  Directory directory(::opendir(path.c_str()));
  if (!directory) throw system_error("cannot list " + path, errno);
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr && errno != 0) throw system_error("cannot list " + path, errno);
    if (entry == nullptr) return true;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (!visit(directory.get(), std::string(name))) return false;
  }
}

bool has_size(int fd, uint64_t size) {
  struct stat status;
  return ::fstat(fd, &status) == 0 && static_cast<uint64_t>(status.st_size) == size;
}

// Whether the file begins with exactly these bytes; a file that cannot be read that far does not.
bool has_bytes(int fd, const Sha256& hash, uint64_t size) {
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(kReadBytes);
  Sha256Stream stream;
  uint64_t offset = 0;
  while (offset < size) {
    const auto count =
        ::pread(fd, buffer.get(), std::min<uint64_t>(kReadBytes, size - offset), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    stream.update({buffer.get(), static_cast<size_t>(count)});
    offset += static_cast<uint64_t>(count);
  }
  return stream.digest() == hash;
}

// nullopt when there is no such file; throws when it is there but cannot be opened, which says nothing about
// its bytes.
std::optional<Fd> open_if_present(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0 && errno == ENOENT) return std::nullopt;
  if (fd < 0) throw system_error("cannot open " + path, errno);
  return Fd(fd);
}

// Hashing keeps a core busy, writing and syncing wait for the disk: one thread more than cores, within
// reason.
size_t thread_count() { return std::clamp<size_t>(std::thread::hardware_concurrency() + 1, 3, 8); }

}  // namespace

std::unique_ptr<Store> open_local_store(const std::string& directory) {
  return std::make_unique<LocalStore>(directory);
}

LocalStore::LocalStore(std::string directory) : directory_(std::move(directory)), pool_(thread_count(), 0) {
  make_directories_durably(directory_);
  make_directory(directory_ + "/new");
  for (size_t place = 0; place < kPlaces; ++place) make_directory(directory_ + "/" + place_name(place));
  // Always, for they may have been made by a process that was killed before it could sync them.
  fsync_directory(directory_);
  visit_directory(directory_ + "/new", [](DIR* parent, const std::string& name) {
    if (::unlinkat(::dirfd(parent), name.c_str(), 0) != 0)
      throw system_error("cannot remove the left-over " + name, errno);
    return true;
  });
}

std::unique_ptr<Writer> LocalStore::begin_write(KnownBlobs& known) {
  return std::make_unique<ContentWriter>(*this, known, std::make_unique<AsideFiles>(directory_), pool_);
}

OpenBlob LocalStore::open(const std::string& location, const Sha256& hash, uint64_t size) {
  const auto path = path_of(location);
  const auto corrupt = [&](std::string_view how) {
    return Error(Code::corrupt, "the file of the blob " + hash.hex() + " " + std::string(how))
        .with("location", location);
  };
  auto fd = open_if_present(path);
  if (!fd) throw corrupt("is missing");
  if (hash_in(location) != hash) throw corrupt("is another blob's");
  if (!has_size(fd->get(), size)) throw corrupt("has another size");
  const auto key = file_key(location);
  if (!is_verified(key)) {
    if (!has_bytes(fd->get(), hash, size)) throw corrupt("has other bytes");
    remember_verified(key);
  }
  return {.file = std::make_shared<Fd>(std::move(*fd)), .size = size};
}

bool LocalStore::verify(const std::string& location, const Sha256& hash, uint64_t size) {
  const auto fd = open_if_present(path_of(location));
  const bool good = fd && has_size(fd->get(), size) && has_bytes(fd->get(), hash, size);
  if (!good) forget_verified(file_key(location));
  return good;
}

void LocalStore::remove(const std::string& location) {
  const auto path = path_of(location);
  forget_verified(file_key(location));
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    throw system_error("cannot remove the blob file " + location, errno);
}

void LocalStore::for_each(
    const std::function<bool(const std::string& location, uint64_t size, int64_t age_s)>& visit) {
  const auto now_s = static_cast<int64_t>(std::time(nullptr));
  for (size_t place = 0; place < kPlaces; ++place) {
    const auto name = place_name(place);
    const bool go_on = visit_directory(directory_ + "/" + name, [&](DIR* parent, const std::string& file) {
      struct stat status;
      if (!is_file_name(file)) return true;
      if (::fstatat(::dirfd(parent), file.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
        return true;  // just removed
      // The time of the last change of the inode is when the file came to its place: a slow upload's first
      // chunk is as young as its last.
      const auto age_s = std::max<int64_t>(0, now_s - status.st_ctim.tv_sec);
      return visit(name + "/" + file, static_cast<uint64_t>(status.st_size), age_s);
    });
    if (!go_on) return;
  }
}

// Locations come from the catalog; one that is not of our making would name a file that is not ours.
std::string LocalStore::path_of(const std::string& location) const {
  if (!is_location(location))
    throw Error(Code::corrupt, "not the location of a blob file").with("location", location);
  return directory_ + "/" + location;
}

bool LocalStore::is_verified(const FileKey& key) {
  std::lock_guard lock(mutex_);
  return verified_.contains(key);
}

void LocalStore::remember_verified(const FileKey& key) {
  std::lock_guard lock(mutex_);
  if (verified_.size() >= kVerifiedMax) verified_.clear();
  verified_.insert(key);
}

void LocalStore::forget_verified(const FileKey& key) {
  std::lock_guard lock(mutex_);
  verified_.erase(key);
}

}  // namespace sk::blobs
