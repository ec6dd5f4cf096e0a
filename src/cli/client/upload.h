// Uploads one content to a workspace: streams it and checks that the server stored the bytes that were read.
#pragma once

#include <optional>
#include <string>

#include "base/fd.h"
#include "cli/client/local_files.h"
#include "cli/client/remote.h"
#include "cli/frame/progress.h"

namespace sk::cli {

struct UploadOptions {
  WriteConditions conditions;
  std::string base;  // the version that the writer started from; empty: the current one
  std::string mime;  // empty: detected by the server
};

// Uploads a regular file with its mode and time. Returns the server's change result. Error(corrupt) if the
// server stored other bytes, Error(conflict) if the file changed during the read.
Json upload_file(Remote& remote, const std::string& local, const RemotePath& where,
                 const UploadOptions& options, Progress& progress);
// Uploads all data from `fd`, of unknown length.
Json upload_stream(Remote& remote, int fd, const RemotePath& where, const UploadOptions& options,
                   Progress& progress);

}  // namespace sk::cli
