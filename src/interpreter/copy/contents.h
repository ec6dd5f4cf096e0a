// Reading a file of a working copy into the store, while code may still be writing to it.
#pragma once

#include <optional>
#include <string>

#include "interpreter/copy/working_copy.h"
#include "workspace/intake.h"

namespace sk::interpreter {

struct ReadFile {
  workspace::Content content;
  bool stable = true;  // false: it changed while it was read, each of several times
  Node node;           // as it was when the reading began
};

// nullopt when there is no regular file any more. Error(conflict) when there is one that cannot be opened.
// Error(too_large) when it grew over the limit, Error(disk_full).
std::optional<ReadFile> read_contents(workspace::Ground& ground, const WorkingCopy& copy,
                                      const std::string& path, uint64_t file_bytes_max);

// The hash of a file as it is now; nullopt when it cannot be read.
std::optional<Sha256> hash_contents(const WorkingCopy& copy, const std::string& path);

}  // namespace sk::interpreter
