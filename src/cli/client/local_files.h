// Local files: walks folders, and writes downloads atomically.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "cli/frame/interrupt.h"

namespace sk::cli {

struct LocalFile {
  std::string path;    // on this machine
  std::string remote;  // target path in the workspace
  uint64_t size = 0;
};

struct LocalFolder {
  std::string remote;
  std::optional<uint32_t> mode;  // nullopt: create it without setting a mode
};

struct LocalTree {
  std::vector<LocalFile> files;      // sorted by path within each folder
  std::vector<LocalFolder> folders;  // parents first, including the top folder
  std::vector<std::string> skipped;  // "path: reason" for entries that cannot be stored
};

// Returns everything below `folder`, with paths below the remote path `remote`. Links to files are read as
// files. Links to folders, devices, sockets and pipes are skipped and listed. Throws Error if a folder cannot
// be read.
LocalTree walk_folder(const std::string& folder, const std::string& remote);

struct FileFacts {
  uint64_t size = 0;
  uint32_t mode = 0;
  TimeUs mtime_us = 0;
  bool operator==(const FileFacts&) const = default;
};
// Opens a file for reading. Throws the error of local_error().
Fd open_local(const std::string& path);
// Returns the whole content, also of a pipe. Throws the same errors, and Error(too_large).
std::string read_local(const std::string& path, size_t bytes_max);
FileFacts facts_of(const Fd& file, const std::string& path);

// Maps an error of the local filesystem to Error(not_found), Error(forbidden), Error(disk_full) or
// Error(internal), with a hint for the user.
Error local_error(const std::string& path, int err);

bool is_folder(const std::string& path);
bool exists(const std::string& path);

// Converts a path of the server to a local path. Error(bad_request) if a name in it could leave the target
// folder, since the server and its writers are not trusted with local files.
std::string local_path_of(std::string_view remote);

// A file that appears under its name only when it is complete.
class AsideFile {
 public:
  AsideFile(std::string final_path, InterruptGuard& interrupt);
  // Deletes the temporary file unless finish() succeeded.
  ~AsideFile();
  AsideFile(const AsideFile&) = delete;
  AsideFile& operator=(const AsideFile&) = delete;

  void write(std::string_view bytes);
  // Renames the file to its final name and replaces an existing file.
  void finish(uint32_t mode, TimeUs mtime_us);

 private:
  const std::string final_path_;
  std::string aside_path_;
  InterruptGuard& interrupt_;
  Fd file_;
};

}  // namespace sk::cli
