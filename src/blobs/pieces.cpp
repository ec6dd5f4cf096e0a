// Encoding of a list blob: the pieces that make up the content, in order. Defined in STORAGE_FORMAT.md.
#include "base/error.h"
#include "blobs/chunker.h"
#include "blobs/store.h"

namespace sk::blobs {

namespace {
constexpr char kFormat = 1;
constexpr size_t kRecordBytes = 36;
}  // namespace

std::string encode_pieces(const std::vector<PieceRef>& pieces) {
  std::string out;
  out.reserve(1 + pieces.size() * kRecordBytes);
  out += kFormat;
  for (const auto& piece : pieces) {
    out += as_text(piece.hash.view());
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(piece.size >> shift);
  }
  return out;
}

std::vector<PieceRef> decode_pieces(std::string_view text) {
  if (text.empty() || text[0] != kFormat)
    throw Error(Code::corrupt, "a list of pieces has an unknown format");
  text.remove_prefix(1);
  if (text.empty() || text.size() % kRecordBytes != 0)
    throw Error(Code::corrupt, "a list of pieces is cut short");
  std::vector<PieceRef> out;
  out.reserve(text.size() / kRecordBytes);
  for (; !text.empty(); text.remove_prefix(kRecordBytes)) {
    uint32_t size = 0;
    for (size_t i = 32; i < kRecordBytes; ++i) size = size << 8 | static_cast<unsigned char>(text[i]);
    if (size == 0 || size > kChunkSizes.max)
      throw Error(Code::corrupt, "a list of pieces names an impossible size");
    out.push_back({Sha256::from_raw(text.substr(0, 32)), size});
  }
  return out;
}

}  // namespace sk::blobs
