// Puts one content into a workspace: streams it, and checks that the server kept the bytes that were read.
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
  std::string mime;  // empty: the server finds out
};

// A regular file, with its mode and time. The server's change result. Throws Error(corrupt) when it kept
// other bytes, Error(conflict) when the file changed while it was read.
Json upload_file(Remote& remote, const std::string& local, const RemotePath& where,
                 const UploadOptions& options, Progress& progress);
// Whatever comes from `fd`, of unknown length.
Json upload_stream(Remote& remote, int fd, const RemotePath& where, const UploadOptions& options,
                   Progress& progress);

}  // namespace sk::cli
