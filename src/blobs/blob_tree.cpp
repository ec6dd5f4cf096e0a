#include "blobs/blob_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/fd.h"
#include "blobs/blob_file.h"
#include "blobs/location.h"

namespace sk::blobs {

namespace {

constexpr mode_t kFileMode = 0600;
constexpr mode_t kSettledMode = 0400;

void make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    throw system_error("cannot make the directory " + path, errno);
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// Calls visit(directory descriptor, name) for each entry until it returns false. Returns whether all entries
// were visited.
template <class Visit>
bool visit_directory(const std::string& path, const Visit& visit) {
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(path.c_str()));
  if (!directory) throw system_error("cannot list " + path, errno);
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr && errno != 0) throw system_error("cannot list " + path, errno);
    if (entry == nullptr) return true;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (!visit(::dirfd(directory.get()), std::string(name))) return false;
  }
}

std::string with_suffix(std::string path) { return path += kCompressedSuffix; }

void write_aside(const std::string& path, std::string_view bytes) {
  Fd fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, kFileMode);
  write_all(fd.get(), as_bytes(bytes), path);
  fsync_or_die(fd.get(), path);
}

}  // namespace

void make_directories_durably(const std::string& path, unsigned mode) {
  std::error_code ignored;
  if (path.empty() || std::filesystem::is_directory(path, ignored)) return;
  const auto above = std::filesystem::path(path).parent_path().string();
  if (above != path) make_directories_durably(above, mode);
  if (::mkdir(path.c_str(), mode) != 0 && !std::filesystem::is_directory(path, ignored))
    throw system_error("cannot make the directory " + path, errno);
  fsync_directory(above);
}

BlobTree::BlobTree(std::string directory) : directory_(std::move(directory)) {
  make_directories_durably(directory_);
  make_directory(directory_of("new"));
  for (size_t place = 0; place < kPlaces; ++place) make_directory(directory_of(place_name(place)));
  // Always sync, because a killed process may have created the directories without syncing them.
  fsync_directory(directory_);
  visit_directory(directory_of("new"), [](int parent, const std::string& name) {
    if (::unlinkat(parent, name.c_str(), 0) != 0)
      throw system_error("cannot remove the left-over " + name, errno);
    return true;
  });
}

std::string BlobTree::directory_of(std::string_view place) const {
  return directory_ + "/" + std::string(place);
}
std::string BlobTree::aside_path(std::string_view name) const {
  return directory_of("new") + "/" + std::string(name);
}

std::string BlobTree::path_of(std::string_view location) const {
  if (!is_location(location))
    throw Error(Code::corrupt, "not the location of a blob file").with("location", std::string(location));
  return directory_ + "/" + std::string(location);
}

void BlobTree::visit(const std::function<bool(const File&)>& visit) const {
  const auto now_s = static_cast<int64_t>(std::time(nullptr));
  for (size_t place = 0; place < kPlaces; ++place) {
    const auto visit_one = [&](int parent, std::string name) {
      File file;
      struct stat status;
      if (::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
        return true;  // removed meanwhile
      file.compressed = name.ends_with(kCompressedSuffix);
      if (file.compressed) name.resize(name.size() - kCompressedSuffix.size());
      if (!is_file_name(name)) return true;
      file.location = place_name(place) + "/" + name;
      file.settled = file.compressed || (status.st_mode & 0777) == kSettledMode;
      file.disk_bytes = static_cast<uint64_t>(status.st_size);
      // ctime is the time of the move to this place, so the first chunk of a slow upload is as young as its
      // last.
      file.age_s = std::max<int64_t>(0, now_s - status.st_ctim.tv_sec);
      return visit(file);
    };
    if (!visit_directory(directory_of(place_name(place)), visit_one)) return;
  }
}

void BlobTree::remove(std::string_view location) {
  const auto path = path_of(location);
  MutexLock lock(forms_mutex_);
  for (const auto& form : {path, with_suffix(path)})
    if (::unlink(form.c_str()) != 0 && errno != ENOENT)
      throw system_error("cannot remove the blob file " + std::string(location), errno);
}

bool BlobTree::replace_by_compressed(std::string_view location, std::string_view packed,
                                     const std::function<void(const std::string&)>& check) {
  const auto path = path_of(location);
  const std::filesystem::path compressed = with_suffix(path);
  const auto aside = aside_path(compressed.filename().string());
  try {
    write_aside(aside, packed);
    check(aside);
    MutexLock lock(forms_mutex_);
    if (::access(path.c_str(), F_OK) != 0) {
      ::unlink(aside.c_str());
      return false;
    }
    if (::rename(aside.c_str(), compressed.c_str()) != 0)
      throw system_error("cannot move the blob file " + std::string(location) + " to its place", errno);
  } catch (...) {
    ::unlink(aside.c_str());
    throw;
  }
  fsync_directory(compressed.parent_path().string());
  ::unlink(path.c_str());  // a remaining plain file is equally valid
  return true;
}

void BlobTree::settle(std::string_view location) { ::chmod(path_of(location).c_str(), kSettledMode); }

}  // namespace sk::blobs
