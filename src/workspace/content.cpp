#include "workspace/content.h"

#include "base/error.h"
#include "workspace/blob_ledger.h"

namespace sk::workspace {

ContentReader::ContentReader(Ground& ground, const Sha256& content, uint64_t offset, uint64_t size)
    : ground_(ground) {
  auto blob =
      ground.db.read([&](catalog::Statements& statements) { return BlobLedger::find(statements, content); });
  if (!blob) throw Error(Code::gone, "this content was purged a moment ago");
  SK_CHECK(offset <= blob->size && size <= blob->size - offset);
  if (blob->kind != blobs::Kind::list) {
    if (size > 0) parts_.push_back({content, offset, size});
    return;
  }
  uint64_t start = 0;
  for (const auto& piece : blobs::decode_pieces(blob->bytes)) {
    uint64_t from = std::max(start, offset), to = std::min<uint64_t>(start + piece.size, offset + size);
    if (from < to) parts_.push_back({piece.hash, from - start, to - from});
    start += piece.size;
  }
}

std::optional<ContentPiece> ContentReader::next() {
  if (at_ == parts_.size()) return std::nullopt;
  const Part& part = parts_[at_++];
  struct Found {
    blobs::Kind kind;
    uint64_t size;
    std::string location, bytes;
  };
  auto found = ground_.db.read([&](catalog::Statements& statements) {
    return statements.one("SELECT kind, size, location, bytes FROM blobs WHERE hash = $1", {part.hash},
                          [](const catalog::Row& row) {
                            return Found{static_cast<blobs::Kind>(row.integer(0)),
                                         static_cast<uint64_t>(row.integer(1)), row.str(2), row.str(3)};
                          });
  });
  if (!found) throw Error(Code::gone, "this content was purged a moment ago");
  ContentPiece piece;
  piece.size = part.take;
  if (found->kind == blobs::Kind::file) {
    piece.file = ground_.blobs.open(found->location, part.hash, found->size).file;
    piece.offset = part.skip;
    return piece;
  }
  if (found->kind != blobs::Kind::inline_bytes || sha256(found->bytes) != part.hash)
    throw Error(Code::corrupt, "the stored bytes of " + part.hash.hex() + " do not match their hash");
  piece.bytes = part.skip == 0 && part.take == found->bytes.size()
                    ? std::move(found->bytes)
                    : found->bytes.substr(part.skip, part.take);
  return piece;
}

std::string ContentReader::read_all() {
  std::string out;
  while (auto piece = next()) {
    if (!piece->file) {
      out += piece->bytes;
      continue;
    }
    size_t before = out.size();
    out.resize(before + piece->size);
    size_t got =
        read_at(piece->file->get(), std::as_writable_bytes(std::span(out.data() + before, piece->size)),
                piece->offset, "a blob");
    if (got != piece->size) throw Error(Code::corrupt, "a stored blob is shorter than recorded");
  }
  return out;
}

}  // namespace sk::workspace
