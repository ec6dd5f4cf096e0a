// The SHA-256 of a stream and, at the same time, of each of its parts: a large content is named by the hash
// of the whole, its chunks by their own, so every byte is hashed twice.
//
// One hash leaves the processor's SHA unit idle half of the time, because each step waits for the one before;
// two hashes that take turns cost hardly more than one. OpenSSL has no such call. Where the processor has no
// SHA unit, only the whole is hashed here, and who needs a part's hash computes it on another thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/hash.h"

namespace sk::blobs {

// One thread at a time.
class InterleavedSha256 {
 public:
  // `portable` is for tests of what other processors do.
  enum class Use { best, portable };
  explicit InterleavedSha256(Use use = Use::best);

  void update(Bytes bytes);
  // The hash of everything since the last part ended, and the next part begins; nullopt where parts are not
  // hashed.
  std::optional<Sha256> end_part();
  // Of everything.
  Sha256 whole() const;

 private:
  // A hash that is being computed: its state in the order that the SHA unit wants, and the bytes that do not
  // yet fill a block.
  struct Running {
    alignas(16) std::array<uint32_t, 4> abef{0x9b05688c, 0x510e527f, 0xbb67ae85, 0x6a09e667};
    alignas(16) std::array<uint32_t, 4> cdgh{0x5be0cd19, 0x1f83d9ab, 0xa54ff53a, 0x3c6ef372};
    std::array<std::byte, 64> block{};
    uint64_t bytes_count = 0;
  };
  // These need the SHA unit.
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
