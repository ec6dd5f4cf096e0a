// The files of one content on local disk while they are written: each under new/, until all are synced and
// move to their place together.
//
// Open files are synced as the write goes on, the oldest first, so that at most kOpenFilesMax are open, a
// disk that is slower than the client is felt early, and little is left to wait for at the end.
#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "base/fd.h"
#include "blobs/blob_tree.h"
#include "blobs/sink.h"

namespace sk::blobs {

constexpr size_t kOpenFilesMax = 32;

class AsideFiles final : public Sink {
 public:
  // `tree` outlives it.
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
  // One of the directories for all files of the content, so that one sync of a directory keeps them all.
  const std::string place_;
  bool published_ = false;  // only the writer's thread

  std::mutex mutex_;
  std::vector<std::string> names_;   // guarded by mutex_: every file that was created
  std::deque<OpenFile> open_files_;  // guarded by mutex_: written, not yet synced; the oldest first
};

}  // namespace sk::blobs
