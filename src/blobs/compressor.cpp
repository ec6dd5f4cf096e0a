#include "blobs/compressor.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <optional>
#include <string>

#include "base/error.h"
#include "blobs/blob_file.h"
#include "blobs/chunker.h"
#include "blobs/location.h"
#include "blobs/zstd.h"

namespace sk::blobs {

namespace {

// Reads the plain content. Returns nullopt when it is missing or damaged. Damaged files stay unchanged, so
// verification can detect them.
std::optional<std::string> read_plain(const BlobTree& tree, const std::string& location) {
  const auto file = open_blob_file(tree.path_of(location));
  struct stat status;
  if (!file || file->form != BlobFile::Form::plain || ::fstat(file->fd.get(), &status) != 0)
    return std::nullopt;
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size > kChunkSizes.max) return std::nullopt;
  std::string bytes(size, '\0');
  if (read_at(file->fd.get(), std::as_writable_bytes(std::span(bytes)), 0, location) != size)
    return std::nullopt;
  if (sha256(bytes) != hash_in(location)) return std::nullopt;
  return bytes;
}

void compress_one(BlobTree& tree, const std::string& location, Compressed& total) {
  const auto bytes = read_plain(tree, location);
  if (!bytes) return;
  const auto packed = compress_if_it_pays(as_bytes(*bytes));
  if (!packed) return tree.settle(location);
  const auto check = [&](const std::string& written) {
    const BlobFile file{BlobFile::Form::compressed, open_file(written, O_RDONLY)};
    if (!has_content(file, hash_in(location), bytes->size()))
      throw Error(Code::internal, "the compressed form of " + location + " does not give its bytes back");
  };
  if (!tree.replace_by_compressed(location, *packed, check)) return;
  ++total.files_compressed;
  total.bytes_before += bytes->size();
  total.bytes_after += packed->size();
}

}  // namespace

Compressed compress_files(BlobTree& tree, int64_t older_than_s, const std::function<bool()>& go_on) {
  Compressed total;
  tree.visit([&](const BlobTree::File& file) {
    if (!go_on()) return false;
    if (file.settled || file.age_s < older_than_s) return true;
    ++total.files_tried;
    compress_one(tree, file.location, total);
    return true;
  });
  return total;
}

}  // namespace sk::blobs
