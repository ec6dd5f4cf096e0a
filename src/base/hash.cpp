#include "base/hash.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <cerrno>

#include "base/error.h"

namespace sk {

std::optional<Sha256> Sha256::from_hex(std::string_view text) {
  auto raw = sk::from_hex(text);
  if (!raw || raw->size() != 32) return std::nullopt;
  return from_raw(*raw);
}

Sha256 Sha256::from_raw(std::string_view raw) {
  SK_CHECK(raw.size() == 32);
  Sha256 hash;
  std::memcpy(hash.bytes.data(), raw.data(), 32);
  return hash;
}

Sha256 sha256(Bytes data) {
  Sha256 out;
  SK_CHECK(EVP_Digest(data.data(), data.size(), reinterpret_cast<unsigned char*>(out.bytes.data()), nullptr,
                      EVP_sha256(), nullptr) == 1);
  return out;
}

Sha256 hmac_sha256(std::string_view key, std::string_view message) {
  Sha256 out;
  unsigned length = 32;
  SK_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                reinterpret_cast<unsigned char*>(out.bytes.data()), &length) != nullptr);
  return out;
}

Sha256Stream::Sha256Stream() : context_(EVP_MD_CTX_new()) {
  SK_CHECK(context_ != nullptr && EVP_DigestInit_ex(context_, EVP_sha256(), nullptr) == 1);
}

Sha256Stream::Sha256Stream(const Sha256Stream& other) : context_(EVP_MD_CTX_new()) {
  SK_CHECK(context_ != nullptr && EVP_MD_CTX_copy_ex(context_, other.context_) == 1);
}

Sha256Stream::~Sha256Stream() { EVP_MD_CTX_free(context_); }

void Sha256Stream::update(Bytes data) { SK_CHECK(EVP_DigestUpdate(context_, data.data(), data.size()) == 1); }

Sha256 Sha256Stream::digest() const {
  Sha256Stream copy(*this);
  Sha256 out;
  SK_CHECK(EVP_DigestFinal_ex(copy.context_, reinterpret_cast<unsigned char*>(out.bytes.data()), nullptr) ==
           1);
  return out;
}

Md5Stream::Md5Stream() : context_(EVP_MD_CTX_new()) {
  SK_CHECK(context_ != nullptr && EVP_DigestInit_ex(context_, EVP_md5(), nullptr) == 1);
}

Md5Stream::~Md5Stream() { EVP_MD_CTX_free(context_); }

void Md5Stream::update(Bytes data) { SK_CHECK(EVP_DigestUpdate(context_, data.data(), data.size()) == 1); }

std::string Md5Stream::digest() {
  std::string out(16, '\0');
  SK_CHECK(EVP_DigestFinal_ex(context_, reinterpret_cast<unsigned char*>(out.data()), nullptr) == 1);
  return out;
}

bool equal_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void fill_random(std::span<std::byte> out) {
  while (!out.empty()) {
    auto count = ::getrandom(out.data(), out.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) die("the kernel gives no random bytes");
    out = out.subspan(static_cast<size_t>(count));
  }
}

std::string random_base64url(size_t byte_count) {
  std::vector<std::byte> bytes(byte_count);
  fill_random(bytes);
  return to_base64url(bytes);
}

}  // namespace sk
