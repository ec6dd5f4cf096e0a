#include "blobs/blob_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/error.h"
#include "blobs/zstd.h"

namespace sk::blobs {

namespace {

constexpr size_t kReadBytes = 256 << 10;

// Returns false when the file ends, or cannot be read, before `size` bytes.
bool hash_plain(int fd, uint64_t size, Sha256Stream& stream) {
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(kReadBytes);
  uint64_t offset = 0;
  while (offset < size) {
    const auto wanted = std::min<uint64_t>(kReadBytes, size - offset);
    const auto count = ::pread(fd, buffer.get(), wanted, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    stream.update({buffer.get(), static_cast<size_t>(count)});
    offset += static_cast<uint64_t>(count);
  }
  return true;
}

}  // namespace

std::optional<BlobFile> open_blob_file(const std::string& path) {
  const auto open_one = [](const std::string& name) {
    const int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno != ENOENT) throw system_error("cannot open " + name, errno);
    return Fd(fd);
  };
  if (Fd plain = open_one(path)) return BlobFile{BlobFile::Form::plain, std::move(plain)};
  if (Fd compressed = open_one(path + std::string(kCompressedSuffix)))
    return BlobFile{BlobFile::Form::compressed, std::move(compressed)};
  return std::nullopt;
}

bool may_have_size(const BlobFile& file, uint64_t size) {
  if (file.form == BlobFile::Form::compressed) return true;
  struct stat status;
  return ::fstat(file.fd.get(), &status) == 0 && static_cast<uint64_t>(status.st_size) == size;
}

bool has_content(const BlobFile& file, const Sha256& hash, uint64_t size) {
  if (!may_have_size(file, size)) return false;
  Sha256Stream stream;
  const bool read = file.form == BlobFile::Form::plain
                        ? hash_plain(file.fd.get(), size, stream)
                        : decompress(file.fd.get(), size, [&](Bytes bytes) { stream.update(bytes); });
  return read && stream.digest() == hash;
}

std::optional<Fd> unpack(const BlobFile& file, const std::optional<Sha256>& hash, uint64_t size) {
  Fd memory(::memfd_create("sandkeep-blob", MFD_CLOEXEC));
  if (!memory) throw system_error("cannot make a file in memory", errno);
  Sha256Stream stream;
  const bool read = decompress(file.fd.get(), size, [&](Bytes bytes) {
    if (hash) stream.update(bytes);
    write_all(memory.get(), bytes, "a file in memory");
  });
  if (!read || (hash && stream.digest() != *hash)) return std::nullopt;
  return memory;
}

}  // namespace sk::blobs
