// Content-defined chunking (FastCDC with normalisation level 2): two versions of a file share every chunk
// that an edit did not touch. STORAGE_FORMAT.md defines the cuts exactly. They must never change, or new
// versions would share nothing with old ones.
//
// The end of a chunk depends only on the bytes since its start. It does not depend on how the stream was
// split into calls or on earlier chunks. A value; not thread-safe. Keeps no bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/text.h"

namespace sk::blobs {

// A chunk has more than `min` and at most `max` bytes, except the last of a stream, which may be shorter.
// `average` must be a power of two.
struct ChunkSizes {
  size_t min;
  size_t average;
  size_t max;
};

constexpr ChunkSizes kChunkSizes{.min = 512 << 10, .average = 2 << 20, .max = 8 << 20};

class Chunker {
 public:
  explicit Chunker(ChunkSizes sizes = kChunkSizes);

  // Processes the next bytes of the stream, up to the end of the current chunk. If the chunk ends within
  // `bytes`, returns how many of them belong to it. The caller feeds the rest as the start of the next chunk.
  // Returns nullopt when all bytes belong to the chunk and it continues.
  std::optional<size_t> feed(Bytes bytes);

 private:
  const ChunkSizes sizes_;
  const uint64_t cut_below_early_;  // before the average size, a cut is 16 times less likely than after it
  const uint64_t cut_below_late_;
  size_t length_ = 0;  // bytes of the current chunk so far
  uint64_t hash_ = 0;
};

// Returns the value that each byte adds to the rolling hash.
std::span<const uint64_t, 256> gear_table();

}  // namespace sk::blobs
