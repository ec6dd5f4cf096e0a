#include "blobs/zstd.h"

#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/error.h"

namespace sk::blobs {

namespace {

// Compresses tables and logs slightly better than restic's level, at 40 MB/s and 7 MB of memory. That is
// acceptable in the background. Decompression runs at 1 GB/s for every level.
constexpr int kLevel = 8;
constexpr int kProbeLevel = 1;
constexpr size_t kProbeBytes = 128 << 10;
constexpr size_t kReadBytes = 128 << 10;

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

std::string compress(ZSTD_CCtx* context, Bytes bytes, int level) {
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress2(context, out.data(), out.size(), bytes.data(), bytes.size());
  SK_CHECK(!ZSTD_isError(size), ZSTD_getErrorName(size));
  out.resize(size);
  return out;
}

bool pays(size_t before, size_t after) { return after <= before - before / 10; }

}  // namespace

std::optional<std::string> compress_if_it_pays(Bytes bytes) {
  const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  SK_CHECK(context != nullptr);
  const Bytes probe = bytes.first(std::min(bytes.size(), kProbeBytes));
  if (!pays(probe.size(), compress(context.get(), probe, kProbeLevel).size())) return std::nullopt;
  auto out = compress(context.get(), bytes, kLevel);
  if (!pays(bytes.size(), out.size())) return std::nullopt;
  out.shrink_to_fit();
  return out;
}

bool decompress(int fd, uint64_t size, const std::function<void(Bytes)>& take) {
  const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  SK_CHECK(context != nullptr);
  const auto in_buffer = std::make_unique_for_overwrite<std::byte[]>(kReadBytes);
  const size_t out_bytes = ZSTD_DStreamOutSize();
  const auto out_buffer = std::make_unique_for_overwrite<std::byte[]>(out_bytes);
  uint64_t offset = 0, taken = 0;
  size_t more_wanted = 1;  // zero exactly at the end of a frame
  for (;;) {
    const auto count = ::pread(fd, in_buffer.get(), kReadBytes, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    if (count == 0) return more_wanted == 0 && taken == size;
    if (more_wanted == 0) return false;  // there is data after the frame
    offset += static_cast<uint64_t>(count);
    ZSTD_inBuffer in{in_buffer.get(), static_cast<size_t>(count), 0};
    bool out_was_full = true;
    while (in.pos < in.size || out_was_full) {
      ZSTD_outBuffer out{out_buffer.get(), out_bytes, 0};
      more_wanted = ZSTD_decompressStream(context.get(), &out, &in);
      if (ZSTD_isError(more_wanted) || taken + out.pos > size) return false;
      take({out_buffer.get(), out.pos});
      taken += out.pos;
      out_was_full = out.pos == out_bytes && more_wanted != 0;
      if (more_wanted == 0 && in.pos < in.size) return false;
    }
  }
}

}  // namespace sk::blobs
