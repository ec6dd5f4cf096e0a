// Files of this machine: what a folder holds, and how a download becomes a file in one step.
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
  std::string remote;  // where it goes in the workspace
  uint64_t size = 0;
};

struct LocalFolder {
  std::string remote;
  std::optional<uint32_t> mode;  // nullopt: only that it is there
};

struct LocalTree {
  std::vector<LocalFile> files;      // sorted by path within each folder
  std::vector<LocalFolder> folders;  // each before those in it, the first one itself included
  std::vector<std::string> skipped;  // "path: why", for what cannot be kept
};

// Everything below `folder`, to go below the remote path `remote`. Links to files are read as the files;
// links to folders, devices, sockets and pipes are skipped and named. Throws Error for a folder that cannot
// be read.
LocalTree walk_folder(const std::string& folder, const std::string& remote);

struct FileFacts {
  uint64_t size = 0;
  uint32_t mode = 0;
  TimeUs mtime_us = 0;
  bool operator==(const FileFacts&) const = default;
};
// For reading; throws Error that blames the path, not the program.
Fd open_local(const std::string& path);
// The whole content, also of a pipe. Throws the same errors, and Error(too_large).
std::string read_local(const std::string& path, size_t bytes_max);
FileFacts facts_of(const Fd& file, const std::string& path);

// An error of this machine's filesystem: the user's to mend, so no internal one.
Error local_error(const std::string& path, int err);

bool is_folder(const std::string& path);
bool exists(const std::string& path);

// A path of the server as one of this machine. Throws Error(bad_request) when a name in it could leave the
// folder it is put into: a server, or who may write to it, is not trusted with this machine's files.
std::string local_path_of(std::string_view remote);

// A file that appears under its name only when it is whole.
class AsideFile {
 public:
  AsideFile(std::string final_path, InterruptGuard& interrupt);
  // Removes what was not finished.
  ~AsideFile();
  AsideFile(const AsideFile&) = delete;
  AsideFile& operator=(const AsideFile&) = delete;

  void write(std::string_view bytes);
  // Puts it in place, replacing what is there.
  void finish(uint32_t mode, TimeUs mtime_us);

 private:
  const std::string final_path_;
  std::string aside_path_;
  InterruptGuard& interrupt_;
  Fd file_;
};

}  // namespace sk::cli
