// Writes the files of one content to local disk: each under new/, until all are synced and moved to their
// final place together. Destroyed without publish(), it removes its files.
//
// Open files are synced during the write, oldest first. This limits open files to kOpenFilesMax, applies
// back-pressure early when the disk is slow, and leaves little to sync at the end.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/mutex.h"
#include "blobs/blob_tree.h"
#include "blobs/sink.h"

namespace sk::blobs {

constexpr size_t kOpenFilesMax = 32;

class AsideFiles final : public Sink {
 public:
  // `tree` must outlive this object.
  explicit AsideFiles(const BlobTree& tree);
  ~AsideFiles() override;

  std::string add(const Sha256& hash, std::span<const Slice> slices) override;
  void publish() override;

 private:
  struct OpenFile {
    Fd fd;
    std::string name;
  };
  std::string location(const std::string& name) const { return place_ + "/" + name; }
  void sync_down_to(size_t open_files);

  const BlobTree& tree_;
  // One directory for all files of the content, so one directory sync covers them all.
  const std::string place_;
  bool published_ = false;  // writer's thread only

  Mutex mutex_;
  std::vector<std::string> names_ SK_GUARDED_BY(mutex_);   // every created file
  std::deque<OpenFile> open_files_ SK_GUARDED_BY(mutex_);  // written but not synced, oldest first
};

}  // namespace sk::blobs
