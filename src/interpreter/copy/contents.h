// Reading a file of a working copy into the store, while code may still be writing to it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "interpreter/copy/working_copy.h"
#include "workspace/files.h"

namespace sk::interpreter {

struct Contents {
  std::shared_ptr<blobs::Written> written;
  std::string head_bytes;
  bool stable = true;  // false: it changed while it was read, each of several times
};

struct ReadFile {
  Contents contents;
  Node node;  // as it was when the reading began
};

// nullopt when there is no regular file any more. Error(too_large) when it grew over the limit,
// Error(disk_full).
std::optional<ReadFile> read_contents(workspace::Files& files, const WorkingCopy& copy,
                                      const std::string& path, uint64_t file_bytes_max);

// The hash of a file as it is now; nullopt when it cannot be read.
std::optional<Sha256> hash_contents(const WorkingCopy& copy, const std::string& path);

}  // namespace sk::interpreter
