#include "blobs/interleaved_sha256.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace sk::blobs {

namespace {
constexpr size_t kBlockBytes = 64;
}

#if defined(__x86_64__)

namespace {

// Constants of FIPS 180-4: the first 32 bits of the fractional parts of the cube roots of the first 64
// primes.
alignas(16) constexpr std::array<uint32_t, 64> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

bool has_sha_unit() {
  unsigned a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_1) == 0 || (c & bit_SSSE3) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}

}  // namespace

// FIPS 180-4 with the SHA instructions: sixteen groups of four rounds. From the fourth on, each group also
// computes the message words of the next. The streams are interleaved within each group.
template <size_t count>
__attribute__((target("sha,sse4.1,ssse3"))) void InterleavedSha256::compress(
    const std::array<Running*, count>& running, std::array<const std::byte*, count> data, size_t blocks) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  __m128i abef[count], cdgh[count], abef_before[count], cdgh_before[count], words[count][4];
  for (size_t s = 0; s < count; ++s) {
    abef[s] = _mm_load_si128(reinterpret_cast<const __m128i*>(running[s]->abef.data()));
    cdgh[s] = _mm_load_si128(reinterpret_cast<const __m128i*>(running[s]->cdgh.data()));
  }
  for (; blocks > 0; --blocks) {
#pragma GCC unroll 2
    for (size_t s = 0; s < count; ++s) {
      abef_before[s] = abef[s];
      cdgh_before[s] = cdgh[s];
#pragma GCC unroll 4
      for (size_t i = 0; i < 4; ++i)
        words[s][i] =
            _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data[s] + 16 * i)), big_endian);
      data[s] += kBlockBytes;
    }
#pragma GCC unroll 16
    for (size_t group = 0; group < 16; ++group) {
      const __m128i constants = _mm_load_si128(reinterpret_cast<const __m128i*>(&kRoundConstants[4 * group]));
#pragma GCC unroll 2
      for (size_t s = 0; s < count; ++s) {
        auto& w = words[s];
        const __m128i input = _mm_add_epi32(w[group % 4], constants);
        cdgh[s] = _mm_sha256rnds2_epu32(cdgh[s], abef[s], input);
        abef[s] = _mm_sha256rnds2_epu32(abef[s], cdgh[s], _mm_shuffle_epi32(input, 0x0e));
        if (group < 3 || group == 15) continue;
        const __m128i latest = w[group % 4];
        const __m128i carried = _mm_alignr_epi8(latest, w[(group + 3) % 4], 4);
        const __m128i sum =
            _mm_add_epi32(_mm_sha256msg1_epu32(w[(group + 1) % 4], w[(group + 2) % 4]), carried);
        w[(group + 1) % 4] = _mm_sha256msg2_epu32(sum, latest);
      }
    }
#pragma GCC unroll 2
    for (size_t s = 0; s < count; ++s) {
      abef[s] = _mm_add_epi32(abef[s], abef_before[s]);
      cdgh[s] = _mm_add_epi32(cdgh[s], cdgh_before[s]);
    }
  }
  for (size_t s = 0; s < count; ++s) {
    _mm_store_si128(reinterpret_cast<__m128i*>(running[s]->abef.data()), abef[s]);
    _mm_store_si128(reinterpret_cast<__m128i*>(running[s]->cdgh.data()), cdgh[s]);
  }
}

#else

namespace {
bool has_sha_unit() { return false; }
}  // namespace

template <size_t count>
void InterleavedSha256::compress(const std::array<Running*, count>&, std::array<const std::byte*, count>,
                                 size_t) {
  SK_CHECK(false, "there is no SHA unit");
}

#endif

InterleavedSha256::InterleavedSha256(Use use) : interleaved_(use == Use::best && has_sha_unit()) {}

void InterleavedSha256::update(Bytes bytes) {
  if (!interleaved_) return portable_whole_.update(bytes);
  Bytes for_whole = fill_block(whole_, bytes);
  Bytes for_part = fill_block(part_, bytes);
  // The two may differ by one block, because each starts in its own block.
  const size_t blocks = std::min(for_whole.size(), for_part.size()) / kBlockBytes;
  compress<2>({&whole_, &part_}, {for_whole.data(), for_part.data()}, blocks);
  keep_rest(whole_, for_whole.subspan(blocks * kBlockBytes));
  keep_rest(part_, for_part.subspan(blocks * kBlockBytes));
}

std::optional<Sha256> InterleavedSha256::end_part() {
  if (!interleaved_) return std::nullopt;
  const Sha256 hash = finish(part_);
  part_ = {};
  return hash;
}

Sha256 InterleavedSha256::whole() const { return interleaved_ ? finish(whole_) : portable_whole_.digest(); }

// Completes a partial block, if there is one. Returns the bytes after it.
Bytes InterleavedSha256::fill_block(Running& running, Bytes bytes) {
  const size_t begun = running.bytes_count % kBlockBytes;
  running.bytes_count += bytes.size();
  if (begun == 0 || bytes.empty()) return bytes;
  const size_t taken = std::min(kBlockBytes - begun, bytes.size());
  std::memcpy(running.block.data() + begun, bytes.data(), taken);
  if (begun + taken == kBlockBytes) compress<1>({&running}, {running.block.data()}, 1);
  return bytes.subspan(taken);
}

// `rest` starts at a block boundary, unless it is empty.
void InterleavedSha256::keep_rest(Running& running, Bytes rest) {
  const size_t blocks = rest.size() / kBlockBytes;
  compress<1>({&running}, {rest.data()}, blocks);
  rest = rest.subspan(blocks * kBlockBytes);
  if (!rest.empty()) std::memcpy(running.block.data(), rest.data(), rest.size());
}

// Adds the padding: one bit, zeros, and the length in bits in the last 8 bytes of a block.
Sha256 InterleavedSha256::finish(Running running) {
  std::array<std::byte, 2 * kBlockBytes> last{};
  const size_t begun = running.bytes_count % kBlockBytes;
  std::memcpy(last.data(), running.block.data(), begun);
  last[begun] = std::byte{0x80};
  const size_t blocks = begun + 1 + sizeof(uint64_t) <= kBlockBytes ? 1 : 2;
  const uint64_t bits = running.bytes_count * 8;
  for (size_t i = 0; i < 8; ++i) last[blocks * kBlockBytes - 1 - i] = static_cast<std::byte>(bits >> (8 * i));
  compress<1>({&running}, {last.data()}, blocks);

  const auto& [f, e, b, a] = running.abef;
  const auto& [h, g, d, c] = running.cdgh;
  Sha256 out;
  size_t at = 0;
  for (uint32_t word : {a, b, c, d, e, f, g, h})
    for (int shift = 24; shift >= 0; shift -= 8) out.bytes[at++] = static_cast<std::byte>(word >> shift);
  return out;
}

}  // namespace sk::blobs
