// Directory of a local store, with the layout of STORAGE_FORMAT.md: unfinished writes in new/, finished files
// in sixteen directories 0…f. Manages files, not their contents. Failures throw Error.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/mutex.h"

namespace sk::blobs {

// Creates the missing directories of `path`, subject to the umask, and syncs the parent of each.
void make_directories_durably(const std::string& path, unsigned mode = 0700);

// Thread-safe. Only one process may use a directory; the owner of the data folder ensures that.
class BlobTree {
 public:
  // Creates missing directories and removes the files of unfinished writes.
  explicit BlobTree(std::string directory);

  // Throws Error(corrupt) when `location` does not have our format, because it could name a foreign file.
  std::string path_of(std::string_view location) const;
  std::string aside_path(std::string_view name) const;
  std::string directory_of(std::string_view place) const;

  struct File {
    std::string location;
    bool compressed = false;
    bool settled = false;  // compressed, or known to be better uncompressed
    uint64_t disk_bytes = 0;
    int64_t age_s = 0;  // since it was moved to its place
  };
  // Visits every file until `visit` returns false. A blob that exists in both forms is visited twice.
  void visit(const std::function<bool(const File&)>& visit) const;

  // Removes both forms. Missing files are not an error.
  void remove(std::string_view location);
  // Replaces the plain file with `packed`, durably. Returns false when the blob was removed in the meantime;
  // it stays removed. check(temporary path) may throw to reject the written file.
  bool replace_by_compressed(std::string_view location, std::string_view packed,
                             const std::function<void(const std::string&)>& check);
  // Marks the blob as better uncompressed.
  void settle(std::string_view location);

 private:
  const std::string directory_;
  Mutex forms_mutex_;  // held while forms are added or removed, so a removed blob cannot reappear
};

}  // namespace sk::blobs
