// The two uses of zstd: the only place that knows it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/text.h"

namespace sk::blobs {

// One zstd frame with the same content; nullopt when that would save less than a tenth. Bytes that do not
// look compressible at their beginning are not tried further.
std::optional<std::string> compress_if_it_pays(Bytes bytes);

// Calls take() with the content of the frame in the file, piece by piece. False when the file is not one
// whole frame of exactly `size` bytes, or cannot be read; by then some pieces may have been taken.
bool decompress(int fd, uint64_t size, const std::function<void(Bytes)>& take);

}  // namespace sk::blobs
