// One blob's file on local disk, in either of its two forms: plain at its path, or compressed at the same
// path with ".zst" behind it. While one takes the other's place both are there, and both are good.
#pragma once

#include <optional>
#include <string>

#include "base/fd.h"
#include "base/hash.h"

namespace sk::blobs {

constexpr std::string_view kCompressedSuffix = ".zst";

struct BlobFile {
  enum class Form { plain, compressed };
  Form form;
  Fd fd;
};

// The plain file, else the compressed one, else nullopt. Throws when it is there but cannot be opened, which
// says nothing about its bytes.
std::optional<BlobFile> open_blob_file(const std::string& path);

// Whether the content has exactly this size, as far as that can be told without reading it.
bool may_have_size(const BlobFile& file, uint64_t size);
// Whether the content is exactly this; reads all of it. What cannot be read is not.
bool has_content(const BlobFile& file, const Sha256& hash, uint64_t size);
// A file in memory with the content of a compressed one; nullopt when it is not of this size or, if `hash` is
// given, another.
std::optional<Fd> unpack(const BlobFile& file, const std::optional<Sha256>& hash, uint64_t size);

}  // namespace sk::blobs
