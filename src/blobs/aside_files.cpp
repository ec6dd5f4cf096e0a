#include "blobs/aside_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/fair_queue.h"
#include "blobs/location.h"

namespace sk::blobs {

AsideFiles::AsideFiles(const BlobTree& tree) : tree_(tree), place_(random_place()) {}

AsideFiles::~AsideFiles() {
  if (published_) return;
  // After a failure in the middle of publish(), a file may be in either place.
  for (const auto& name : names_) {
    ::unlink(tree_.aside_path(name).c_str());
    ::unlink(tree_.path_of(location(name)).c_str());
  }
}

std::string AsideFiles::add(const Sha256& hash, std::span<const Slice> slices) {
  const auto name = unique_file_name(hash);
  {
    MutexLock lock(mutex_);
    names_.push_back(name);
  }
  Fd fd = open_file(tree_.aside_path(name), O_WRONLY | O_CREAT | O_EXCL);
  for (const auto& slice : slices) write_all(fd.get(), slice.bytes, name);
  // Only starts the write-back; fsync reports errors.
  ::sync_file_range(fd.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
  bool too_many;
  {
    MutexLock lock(mutex_);
    open_files_.push_back({std::move(fd), name});
    too_many = open_files_.size() > kOpenFilesMax;
  }
  // Sync half of them at once: the first sync of a batch does most of the file system's work for all.
  if (too_many) sync_down_to(kOpenFilesMax / 2);
  return location(name);
}

void AsideFiles::sync_down_to(size_t open_files) {
  std::deque<OpenFile> to_sync;
  {
    MutexLock lock(mutex_);
    while (open_files_.size() > open_files) {
      to_sync.push_back(std::move(open_files_.front()));
      open_files_.pop_front();
    }
  }
  if (to_sync.empty()) return;
  FairPool::Pause pause;
  for (const auto& file : to_sync) fsync_or_die(file.fd.get(), file.name);
}

void AsideFiles::publish() {
  std::vector<std::string> names;
  {
    MutexLock lock(mutex_);
    names = names_;
  }
  if (names.empty()) return;
  FairPool::Pause pause;  // for the disk
  sync_down_to(0);
  for (const auto& name : names)
    if (::rename(tree_.aside_path(name).c_str(), tree_.path_of(location(name)).c_str()) != 0)
      throw system_error("cannot move the blob " + name + " to its place", errno);
  fsync_directory(tree_.directory_of(place_));
  published_ = true;
}

}  // namespace sk::blobs
