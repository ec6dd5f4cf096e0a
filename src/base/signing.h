// Ed25519 signatures, for the checkpoints of the journal: whoever has the public key can tell, without the
// server, that a checkpoint is the server's own. Keys are values; any thread may use one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"

struct evp_pkey_st;

namespace sk {

class PublicKey {
 public:
  // nullopt for what is not an Ed25519 public key in PEM (SubjectPublicKeyInfo).
  static std::optional<PublicKey> from_pem(std::string_view pem);
  std::string pem() const;
  // The 32 bytes of the key.
  std::string raw() const;
  // False for any message or signature that differs in a single bit, and for one that is not 64 bytes long.
  bool verify(Bytes message, std::string_view signature) const;

 private:
  friend class SigningKey;
  explicit PublicKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
  std::shared_ptr<evp_pkey_st>
      key_;  // shared by copies: OpenSSL counts references, and the key never changes
};

class SigningKey {
 public:
  static SigningKey make();
  // nullopt for what is not an Ed25519 private key in PEM (PKCS #8).
  static std::optional<SigningKey> from_pem(std::string_view pem);
  // The key in that file; when there is none, a new one, kept there durably with mode 0600. Throws
  // Error(corrupt) when the file holds something else.
  static SigningKey load_or_make(const std::string& path);

  std::string pem() const;
  PublicKey public_key() const;
  // 64 bytes; the same message always gives the same ones.
  std::string sign(Bytes message) const;

 private:
  explicit SigningKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
  std::shared_ptr<evp_pkey_st> key_;
};

}  // namespace sk
