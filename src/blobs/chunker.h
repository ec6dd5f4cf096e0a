// Cuts a stream of bytes into chunks where its content says so (FastCDC with normalisation level 2), so that
// two versions of a file share every chunk that an edit did not touch. STORAGE_FORMAT.md defines the cuts
// exactly; they must never change, or new versions would share nothing with old ones.
//
// Where a chunk ends depends on nothing but the bytes since its start: not on how the stream was split into
// calls, nor on what came before. A value; one thread at a time. Looks at bytes, keeps none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/text.h"

namespace sk::blobs {

// A chunk has more than `min` and at most `max` bytes, except the last of a stream, which may be shorter.
// `average` is a power of two.
struct ChunkSizes {
  size_t min;
  size_t average;
  size_t max;
};

constexpr ChunkSizes kChunkSizes{.min = 512 << 10, .average = 2 << 20, .max = 8 << 20};

class Chunker {
 public:
  explicit Chunker(ChunkSizes sizes = kChunkSizes);

  // Takes the next bytes of the stream, up to the end of the current chunk: the count that belongs to it when
  // it ends within `bytes` (the caller feeds the rest again, as the start of the next chunk), or nullopt when
  // all of `bytes` belongs to it and it goes on.
  std::optional<size_t> feed(Bytes bytes);

 private:
  const ChunkSizes sizes_;
  const uint64_t cut_below_early_;  // up to the average size a cut is 16 times less likely than after it
  const uint64_t cut_below_late_;
  size_t length_ = 0;  // bytes of the current chunk so far
  uint64_t hash_ = 0;
};

// What each byte value adds to the rolling hash.
std::span<const uint64_t, 256> gear_table();

}  // namespace sk::blobs
