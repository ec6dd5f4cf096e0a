// Any bytes, arriving in any pieces, give chunks that keep to the sizes, do not depend on the pieces, and
// together are the bytes again; and any text is either a list of pieces that is encoded the same way again,
// or refused.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "blobs/chunker.h"
#include "blobs/store.h"

namespace {

using sk::blobs::Chunker;
using sk::blobs::ChunkSizes;

constexpr ChunkSizes kSizes{.min = 16, .average = 64, .max = 256};

std::vector<size_t> chunk_sizes(sk::Bytes bytes, size_t piece_bytes) {
  Chunker chunker(kSizes);
  std::vector<size_t> sizes;
  size_t open = 0;
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(piece_bytes, bytes.size()));
    const auto end = chunker.feed(piece);
    const size_t taken = end.value_or(piece.size());
    SK_CHECK(taken > 0 && taken <= piece.size());
    open += taken;
    bytes = bytes.subspan(taken);
    if (!end) continue;
    SK_CHECK(open > kSizes.min && open <= kSizes.max);
    sizes.push_back(open);
    open = 0;
  }
  SK_CHECK(open < kSizes.max);
  sizes.push_back(open);
  return sizes;
}

void check_pieces(std::string_view text) {
  try {
    SK_CHECK(sk::blobs::encode_pieces(sk::blobs::decode_pieces(text)) == text);
  } catch (const sk::Error& error) {
    SK_CHECK(error.code() == sk::Code::corrupt);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t piece_bytes = size_t{data[0]} + 1;
  const sk::Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto sizes = chunk_sizes(bytes, piece_bytes);
  SK_CHECK(sizes == chunk_sizes(bytes, size));
  size_t total = 0;
  for (size_t chunk : sizes) total += chunk;
  SK_CHECK(total == size);
  check_pieces(sk::as_text(bytes));
  return 0;
}
