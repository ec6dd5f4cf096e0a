// The directory of a local store and the names in it, laid out as STORAGE_FORMAT.md says: unfinished writes
// below new/, every finished file below one of sixteen directories 0…f. Knows files, not what is in them.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace sk::blobs {

// Makes what is missing of `path`, as the umask allows, and syncs the directory above each.
void make_directories_durably(const std::string& path, unsigned mode = 0700);

// Any thread. One process at a time uses a directory: the owner of the data folder sees to that.
class BlobTree {
 public:
  // Makes what is missing and removes what unfinished writes left behind.
  explicit BlobTree(std::string directory);

  // Throws Error(corrupt) when `location` is not of our making: it would name a file that is not ours.
  std::string path_of(std::string_view location) const;
  std::string aside_path(std::string_view name) const;
  std::string directory_of(std::string_view place) const;

  struct File {
    std::string location;
    bool compressed = false;
    bool settled = false;  // compressed, or found to be better plain
    uint64_t disk_bytes = 0;
    int64_t age_s = 0;  // since it came to its place
  };
  // Visits every file, until told to stop by false. A blob that has both forms is visited twice.
  void visit(const std::function<bool(const File&)>& visit) const;

  // Both forms; what is not there is not an error.
  void remove(std::string_view location);
  // `packed` takes the place of the plain file, durably. False when the blob was removed in the meantime: it
  // stays removed. check(aside path) may throw when what was written should not be used.
  bool replace_by_compressed(std::string_view location, std::string_view packed,
                             const std::function<void(const std::string&)>& check);
  // The plain file is the better form.
  void settle(std::string_view location);

 private:
  const std::string directory_;
  std::mutex forms_mutex_;  // held while forms come or go, so that a blob that was removed cannot come back
};

}  // namespace sk::blobs
