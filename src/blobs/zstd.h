// zstd compression and decompression. Only this file uses zstd. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/text.h"

namespace sk::blobs {

// Compresses into one zstd frame. Returns nullopt when that would save less than a tenth. Stops early when
// the start of the data does not look compressible.
std::optional<std::string> compress_if_it_pays(Bytes bytes);

// Passes the content of the frame in the file to take(), piece by piece. Returns false when the file is
// unreadable or is not one complete frame of exactly `size` bytes. take() may already have received pieces by
// then.
bool decompress(int fd, uint64_t size, const std::function<void(Bytes)>& take);

}  // namespace sk::blobs
