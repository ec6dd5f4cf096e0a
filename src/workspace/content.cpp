#include "workspace/content.h"

#include "base/error.h"
#include "workspace/blob_ledger.h"

namespace sk::workspace {

ContentReader::ContentReader(KeepContext& context, const Sha256& content, uint64_t offset, uint64_t size)
    : context_(context) {
  auto blob =
      context.db.read([&](catalog::Statements& statements) { return BlobLedger::find(statements, content); });
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

namespace {

struct StoredBlob {
  blobs::Kind kind;
  uint64_t size;
  std::string location, bytes;
};

StoredBlob need_stored(KeepContext& context, const Sha256& hash) {
  auto found = context.db.read([&](catalog::Statements& statements) {
    return statements.one("SELECT kind, size, location, bytes FROM blobs WHERE hash = $1", {hash},
                          [](const catalog::Row& row) {
                            return StoredBlob{static_cast<blobs::Kind>(row.integer(0)),
                                              static_cast<uint64_t>(row.integer(1)), row.str(2), row.str(3)};
                          });
  });
  if (!found) throw Error(Code::gone, "this content was purged a moment ago");
  return std::move(*found);
}

}  // namespace

std::optional<ContentPiece> ContentReader::next() {
  if (at_ == parts_.size()) return std::nullopt;
  const Part& part = parts_[at_++];
  ContentPiece piece;
  piece.size = part.take;
  for (auto found = need_stored(context_, part.hash);;) {
    if (found.kind == blobs::Kind::file) {
      try {
        piece.file = context_.blobs.open(found.location, part.hash, found.size).file;
      } catch (const Error& error) {
        if (error.code() != Code::corrupt) throw;
        // The collector may have deleted or replaced the blob since the lookup.
        auto again = need_stored(context_, part.hash);
        if (again.kind == found.kind && again.location == found.location) throw;
        found = std::move(again);
        continue;
      }
      piece.offset = part.skip;
      return piece;
    }
    if (found.kind != blobs::Kind::inline_bytes || sha256(found.bytes) != part.hash)
      throw Error(Code::corrupt, "the stored bytes of " + part.hash.hex() + " do not match their hash");
    piece.bytes = part.skip == 0 && part.take == found.bytes.size()
                      ? std::move(found.bytes)
                      : found.bytes.substr(part.skip, part.take);
    return piece;
  }
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
