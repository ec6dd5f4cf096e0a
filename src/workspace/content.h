// Reads a version's bytes from the catalog, from one file, or from a list of pieces, and verifies them.
#pragma once

#include "workspace/keep_context.h"
#include "workspace/types.h"

namespace sk::workspace {

// A part of the content: bytes in memory, or a range of a verified file.
struct ContentPiece {
  std::string bytes;
  std::shared_ptr<Fd> file;
  uint64_t offset = 0, size = 0;
};

// Returns the pieces of [offset, offset+size) in order. next() opens and verifies lazily. It throws
// Error(corrupt) when the stored bytes do not match their hash. One thread.
class ContentReader {
 public:
  ContentReader(KeepContext& context, const Sha256& content, uint64_t offset, uint64_t size);
  std::optional<ContentPiece> next();
  // Reads all remaining pieces into memory; for small contents.
  std::string read_all();

 private:
  struct Part {
    Sha256 hash;
    uint64_t skip, take;
  };
  KeepContext& context_;
  std::vector<Part> parts_;
  size_t at_ = 0;
};

}  // namespace sk::workspace
