// Computes the SHA-256 of a stream and of each of its parts at the same time. A large content is named by the
// hash of the whole and its chunks by their own, so every byte is hashed twice.
//
// A single hash leaves the processor's SHA unit idle half of the time, because each step depends on the
// previous one. Two interleaved hashes cost little more than one. OpenSSL has no such function. On processors
// without a SHA unit, only the whole is hashed here, and the caller hashes the parts on another thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/hash.h"

namespace sk::blobs {

// Not thread-safe.
class InterleavedSha256 {
 public:
  // `portable` lets tests run the code path of processors without a SHA unit.
  enum class Use { best, portable };
  explicit InterleavedSha256(Use use = Use::best);

  void update(Bytes bytes);
  // Ends the current part and starts the next. Returns the hash of the ended part, or nullopt where parts are
  // not hashed.
  std::optional<Sha256> end_part();
  // Returns the hash of all bytes.
  Sha256 whole() const;

 private:
  // State of a hash, in the register order of the SHA unit, and the bytes of an incomplete block.
  struct Running {
    alignas(16) std::array<uint32_t, 4> abef{0x9b05688c, 0x510e527f, 0xbb67ae85, 0x6a09e667};
    alignas(16) std::array<uint32_t, 4> cdgh{0x5be0cd19, 0x1f83d9ab, 0xa54ff53a, 0x3c6ef372};
    std::array<std::byte, 64> block{};
    uint64_t bytes_count = 0;
  };
  // These require the SHA unit.
  template <size_t count>
  static void compress(const std::array<Running*, count>& running, std::array<const std::byte*, count> data,
                       size_t blocks);
  static Bytes fill_block(Running& running, Bytes bytes);
  static void keep_rest(Running& running, Bytes rest);
  static Sha256 finish(Running running);

  const bool interleaved_;
  Running whole_;
  Running part_;
  Sha256Stream portable_whole_;
};

}  // namespace sk::blobs
