#include "blobs/chunker.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/error.h"

namespace sk::blobs {

namespace {

// Outputs 0…255 of SplitMix64 with the seed "SANDKEEP" in ASCII. Reproducible from one line of text, and
// different from other projects' tables.
constexpr std::array<uint64_t, 256> make_gear_table() {
  std::array<uint64_t, 256> table{};
  uint64_t state = 0x53414e444b454550;
  for (auto& entry : table) {
    state += 0x9e3779b97f4a7c15;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    entry = z ^ (z >> 31);
  }
  return table;
}

constexpr auto kGear = make_gear_table();

// A run of zeros soon gives this hash, and keeps it: it doubles to itself plus the table's value.
constexpr uint64_t kHashOfZeros = 0 - kGear[0];
static_assert((kHashOfZeros << 1) + kGear[0] == kHashOfZeros);

bool is_zero(Bytes bytes) {
  return bytes.front() == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

struct Scan {
  size_t taken;
  bool cut;
};

// Rolls `hash` over `bytes` until it falls below `cut_below`. Unrolled to four bytes per iteration, because
// loop overhead would otherwise be a third of the work.
Scan scan_bytes(Bytes bytes, uint64_t& hash, uint64_t cut_below) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const size_t size = bytes.size();
  uint64_t rolling = hash;
  size_t at = 0;
  for (; at + 4 <= size; at += 4) {
    const uint64_t first = (rolling << 1) + kGear[data[at]];
    const uint64_t second = (first << 1) + kGear[data[at + 1]];
    const uint64_t third = (second << 1) + kGear[data[at + 2]];
    rolling = (third << 1) + kGear[data[at + 3]];
    if (first < cut_below) [[unlikely]]
      return {at + 1, true};
    if (second < cut_below) [[unlikely]]
      return {at + 2, true};
    if (third < cut_below) [[unlikely]]
      return {at + 3, true};
    if (rolling < cut_below) [[unlikely]]
      return {at + 4, true};
  }
  for (; at < size; ++at) {
    rolling = (rolling << 1) + kGear[data[at]];
    if (rolling < cut_below) return {at + 1, true};
  }
  hash = rolling;
  return {size, false};
}

// The same. Runs of zeros, as in sparse files, are only compared, which is about ten times faster.
Scan scan(Bytes bytes, uint64_t& hash, uint64_t cut_below) {
  constexpr size_t kBlockBytes = 4096;
  size_t at = 0;
  while (at < bytes.size()) {
    const Bytes block = bytes.subspan(at, std::min(kBlockBytes, bytes.size() - at));
    if (hash != kHashOfZeros || kHashOfZeros < cut_below || !is_zero(block)) {
      const auto result = scan_bytes(block, hash, cut_below);
      if (result.cut) return {at + result.taken, true};
    }
    at += block.size();
  }
  return {bytes.size(), false};
}

// Returns the bound below which a random 64-bit number falls with a probability of 1 in 2^bits.
uint64_t below_once_in(int bits) { return uint64_t{1} << (64 - bits); }

int bits_of(const ChunkSizes& sizes) {
  SK_CHECK(std::has_single_bit(sizes.average) && sizes.average >= 16);
  SK_CHECK(sizes.min < sizes.average && sizes.average < sizes.max);
  return std::countr_zero(sizes.average);
}

}  // namespace

std::span<const uint64_t, 256> gear_table() { return kGear; }

Chunker::Chunker(ChunkSizes sizes)
    : sizes_(sizes),
      cut_below_early_(below_once_in(bits_of(sizes) + 2)),
      cut_below_late_(below_once_in(bits_of(sizes) - 2)) {}

std::optional<size_t> Chunker::feed(Bytes bytes) {
  size_t taken = 0;
  const auto next = [&](size_t until_length) {
    return bytes.subspan(taken, std::min(bytes.size() - taken, until_length - length_));
  };
  const auto end_chunk = [&] {
    length_ = 0;
    hash_ = 0;
    return taken;
  };

  if (length_ < sizes_.min) {
    const size_t skipped = next(sizes_.min).size();
    taken += skipped;
    length_ += skipped;
  }
  while (taken < bytes.size()) {
    const bool early = length_ < sizes_.average;
    const auto result =
        scan(next(early ? sizes_.average : sizes_.max), hash_, early ? cut_below_early_ : cut_below_late_);
    taken += result.taken;
    length_ += result.taken;
    if (result.cut || length_ == sizes_.max) return end_chunk();
  }
  return std::nullopt;
}

}  // namespace sk::blobs
