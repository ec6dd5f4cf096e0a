// SHA-256, and the other OpenSSL primitives shared by all rooms.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"

struct evp_md_ctx_st;

namespace sk {

struct Sha256 {
  std::array<std::byte, 32> bytes{};

  auto operator<=>(const Sha256&) const = default;
  explicit operator bool() const { return *this != Sha256{}; }  // all zeros means "none"
  std::string hex() const { return to_hex(bytes); }
  Bytes view() const { return bytes; }
  static std::optional<Sha256> from_hex(std::string_view text);
  // Creates a hash from exactly 32 raw bytes, as stored in the catalog. CHECKs the length.
  static Sha256 from_raw(std::string_view raw);
  std::string raw() const { return std::string(as_text(bytes)); }
};

Sha256 sha256(Bytes data);
inline Sha256 sha256(std::string_view text) { return sha256(as_bytes(text)); }
Sha256 hmac_sha256(std::string_view key, std::string_view message);

// Incremental SHA-256. Not thread-safe. Copying forks the state.
class Sha256Stream {
 public:
  Sha256Stream();
  Sha256Stream(const Sha256Stream& other);
  Sha256Stream& operator=(const Sha256Stream&) = delete;
  ~Sha256Stream();
  void update(Bytes data);
  // Returns the hash of the data so far. More data may follow.
  Sha256 digest() const;

 private:
  evp_md_ctx_st* context_;
};

// Incremental MD5, only for Content-MD5. Old clients send it to detect accidental corruption; it provides no
// security.
class Md5Stream {
 public:
  Md5Stream();
  Md5Stream(const Md5Stream&) = delete;
  Md5Stream& operator=(const Md5Stream&) = delete;
  ~Md5Stream();
  void update(Bytes data);
  // Returns the 16-byte hash of all data. Ends the stream.
  std::string digest();

 private:
  evp_md_ctx_st* context_;
};

// Compares in constant time; the time depends only on the lengths.
bool equal_constant_time(std::string_view a, std::string_view b);

// Fills `out` from the kernel's random generator. Dies when the generator fails.
void fill_random(std::span<std::byte> out);
std::string random_base64url(size_t byte_count);

}  // namespace sk

template <>
struct std::hash<sk::Sha256> {
  size_t operator()(const sk::Sha256& value) const noexcept {
    size_t out;
    std::memcpy(&out, value.bytes.data(), sizeof out);
    return out;
  }
};
