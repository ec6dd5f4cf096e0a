// File of one blob on local disk, in one of two forms: plain at its path, or compressed at the same path plus
// ".zst". While one replaces the other, both exist and both are valid. Stateless functions; any thread.
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

// Opens the plain file, or else the compressed one. Returns nullopt when neither exists. Throws when the file
// exists but cannot be opened, which says nothing about its content.
std::optional<BlobFile> open_blob_file(const std::string& path);

// Returns whether the content can have exactly this size, as far as is known without reading it.
bool may_have_size(const BlobFile& file, uint64_t size);
// Reads the whole content. Returns whether it has this hash and size; false when it cannot be read.
bool has_content(const BlobFile& file, const Sha256& hash, uint64_t size);
// Decompresses into an in-memory file. Returns nullopt when the content does not have this size or, if given,
// this `hash`.
std::optional<Fd> unpack(const BlobFile& file, const std::optional<Sha256>& hash, uint64_t size);

}  // namespace sk::blobs
