// Files that a process of a session uses, from the host's /proc. The kernel shows them to a process of the
// same user, or with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace sk::sandbox {

// A regular file that a process of the session has open for writing, or mapped shared so that it can write to
// it, now or after mprotect().
struct OpenFile {
  uint64_t device;
  uint64_t inode;
  auto operator<=>(const OpenFile&) const = default;
};

// A file without a name. Of one that is only mapped, the bytes are those of the mapping.
struct DeletedFile {
  uint64_t inode;
  uint64_t bytes;
  uint64_t is_mapping;
};

// Includes files of threads whose main thread has exited. May have duplicates.
std::vector<OpenFile> files_written_by(pid_t pid);
// Only files on the filesystem `device`. May have duplicates.
std::vector<DeletedFile> deleted_files_of(pid_t pid, uint64_t device);

}  // namespace sk::sandbox
