#include "base/signing.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <filesystem>

#include "base/error.h"
#include "base/fd.h"

namespace sk {

namespace {

constexpr size_t kSignatureBytes = 64;
constexpr size_t kKeyBytes = 32;

using Key = std::shared_ptr<EVP_PKEY>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

Bio reader(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free);
}

std::string content(BIO* bio) {
  char* data = nullptr;
  auto size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

// Takes ownership of a key parsed by OpenSSL. Returns null unless it is an Ed25519 key.
Key own(EVP_PKEY* key) {
  Key out(key, &EVP_PKEY_free);
  return key != nullptr && EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 ? out : nullptr;
}

// Refuses encrypted keys; otherwise OpenSSL would prompt for a password on the terminal.
int refuse_password(char*, int, int, void*) { return -1; }

Context new_context() {
  Context context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  SK_CHECK(context != nullptr);
  return context;
}

const unsigned char* raw_bytes(Bytes bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

}  // namespace

std::optional<PublicKey> PublicKey::from_pem(std::string_view pem) {
  auto key = own(PEM_read_bio_PUBKEY(reader(pem).get(), nullptr, &refuse_password, nullptr));
  if (!key) return std::nullopt;
  return PublicKey(key);
}

std::string PublicKey::pem() const {
  Bio bio(BIO_new(BIO_s_mem()), &BIO_free);
  SK_CHECK(PEM_write_bio_PUBKEY(bio.get(), key_.get()) == 1);
  return content(bio.get());
}

std::string PublicKey::raw() const {
  std::string out(kKeyBytes, '\0');
  size_t size = out.size();
  SK_CHECK(EVP_PKEY_get_raw_public_key(key_.get(), reinterpret_cast<unsigned char*>(out.data()), &size) ==
               1 &&
           size == kKeyBytes);
  return out;
}

bool PublicKey::verify(Bytes message, std::string_view signature) const {
  if (signature.size() != kSignatureBytes) return false;
  auto context = new_context();
  SK_CHECK(EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1);
  return EVP_DigestVerify(context.get(), raw_bytes(as_bytes(signature)), signature.size(), raw_bytes(message),
                          message.size()) == 1;
}

SigningKey SigningKey::make() {
  Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), &EVP_PKEY_free);
  SK_CHECK(key != nullptr);
  return SigningKey(key);
}

std::optional<SigningKey> SigningKey::from_pem(std::string_view pem) {
  auto key = own(PEM_read_bio_PrivateKey(reader(pem).get(), nullptr, &refuse_password, nullptr));
  if (!key) return std::nullopt;
  return SigningKey(key);
}

SigningKey SigningKey::load_or_make(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    auto key = make();
    write_file_durably(path, key.pem(), 0600);
    return key;
  }
  auto key = from_pem(read_file(path));
  if (!key)
    throw Error(Code::corrupt, path + " does not hold an Ed25519 private key")
        .advise(Advice::restore_file_from_backup);
  return *key;
}

std::string SigningKey::pem() const {
  Bio bio(BIO_new(BIO_s_mem()), &BIO_free);
  SK_CHECK(PEM_write_bio_PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return content(bio.get());
}

// Converts through PEM, so the result does not contain the private key.
PublicKey SigningKey::public_key() const { return PublicKey::from_pem(PublicKey(key_).pem()).value(); }

std::string SigningKey::sign(Bytes message) const {
  auto context = new_context();
  SK_CHECK(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1);
  std::string out(kSignatureBytes, '\0');
  size_t size = out.size();
  SK_CHECK(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size,
                          raw_bytes(message), message.size()) == 1 &&
           size == kSignatureBytes);
  return out;
}

}  // namespace sk
