// Downloads one version to a local file: writes a temporary file, checks its hash, then renames it.
#pragma once

#include <string>

#include "cli/client/remote.h"
#include "cli/frame/interrupt.h"
#include "cli/frame/progress.h"

namespace sk::cli {

// The data of an entry or a version that a download needs.
struct RemoteFile {
  RemotePath where;
  std::string version_id;
  std::string sha256;
  uint64_t size = 0;
  uint32_t mode = 0644;
  TimeUs mtime_us = 0;
};
// Returns the permissions of an entry or a version.
uint32_t kept_mode(const Json& facts);
RemoteFile remote_file_of_entry(const RemotePath& where, const Json& entry);
RemoteFile remote_file_of_version(const RemotePath& where, const Json& version);

// Error(corrupt) if the received bytes are not those of the version; the target file is then not changed.
void download_file(Remote& remote, const RemoteFile& file, const std::string& local,
                   InterruptGuard& interrupt, Progress& progress);
// Passes the bytes to `take` as they arrive. An empty `version` means the current one.
void download_stream(Remote& remote, const RemotePath& where, const std::string& version,
                     const std::function<void(std::string_view)>& take);

}  // namespace sk::cli
