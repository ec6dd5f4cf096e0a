// Gets one version as a file of this machine: written aside, checked against its hash, then put in place.
#pragma once

#include <string>

#include "cli/client/remote.h"
#include "cli/frame/interrupt.h"
#include "cli/frame/progress.h"

namespace sk::cli {

// What a download needs to know of an entry or a version.
struct RemoteFile {
  RemotePath where;
  std::string version_id;
  std::string sha256;
  uint64_t size = 0;
  uint32_t mode = 0644;
  TimeUs mtime_us = 0;
};
// The permissions of an entry or a version.
uint32_t kept_mode(const Json& facts);
RemoteFile remote_file_of_entry(const RemotePath& where, const Json& entry);
RemoteFile remote_file_of_version(const RemotePath& where, const Json& version);

// Throws Error(corrupt) when the bytes that came are not those of the version; nothing is put in place then.
void download_file(Remote& remote, const RemoteFile& file, const std::string& local,
                   InterruptGuard& interrupt, Progress& progress);
// The bytes as they come, to `take`; `version` may be empty for the current one.
void download_stream(Remote& remote, const RemotePath& where, const std::string& version,
                     const std::function<void(std::string_view)>& take);

}  // namespace sk::cli
