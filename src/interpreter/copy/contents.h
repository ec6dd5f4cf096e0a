// Reads a file of a working copy into the store while code may still be writing to it.
#pragma once

#include <optional>
#include <string>

#include "interpreter/copy/working_copy.h"
#include "workspace/intake.h"

namespace sk::interpreter {

struct ReadFile {
  workspace::Content content;
  bool stable = true;  // false: it changed during each of several attempts to read it
  Node node;           // its marks when reading began
};

// nullopt when it is no longer a regular file. Error(conflict) when it cannot be opened, Error(too_large)
// when it grew over the limit, Error(disk_full).
std::optional<ReadFile> read_contents(workspace::KeepContext& context, const WorkingCopy& copy,
                                      const std::string& path, uint64_t file_bytes_max);

// The current hash of a file; nullopt when it cannot be read.
std::optional<Sha256> hash_contents(const WorkingCopy& copy, const std::string& path);

}  // namespace sk::interpreter
