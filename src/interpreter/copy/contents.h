// Reads a file of a working copy into the store while code may still be writing to it. Holes of a sparse file
// are not read from disk.
#pragma once

#include <functional>
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

// Asked between pieces of a file; true ends the reading.
using MustStop = std::function<bool()>;

// nullopt when it is no longer a regular file. Error(conflict) when it cannot be opened, Error(too_large)
// when it grew over the limit, Error(disk_full), Error(unavailable) when it must stop.
std::optional<ReadFile> read_contents(workspace::KeepContext& context, const WorkingCopy& copy,
                                      const std::string& path, uint64_t file_bytes_max,
                                      const MustStop& must_stop = {});

// Writes a new file in order, and leaves holes where its bytes are zero.
class HoleWriter {
 public:
  // `before` is told how many bytes of data are about to be written, and may throw.
  HoleWriter(int fd, std::function<void(uint64_t bytes)> before) : fd_(fd), before_(std::move(before)) {}
  void write(Bytes bytes);
  // Gives the file its size, which a hole at the end does not.
  void finish();

 private:
  void flush();

  const int fd_;
  const std::function<void(uint64_t)> before_;
  uint64_t size_ = 0;
  Bytes pending_;  // within write()
};

// The current hash of a file; nullopt when it cannot be read.
std::optional<Sha256> hash_contents(const WorkingCopy& copy, const std::string& path);

}  // namespace sk::interpreter
