// Ed25519 signatures for the checkpoints of the journal. With the public key, anyone can verify a checkpoint
// without the server. Keys are immutable values that any thread may use.
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
  // Parses PEM (SubjectPublicKeyInfo). Returns nullopt for anything but an Ed25519 public key.
  static std::optional<PublicKey> from_pem(std::string_view pem);
  std::string pem() const;
  // Returns the 32 bytes of the key.
  std::string raw() const;
  // Returns whether the signature matches the message. False for a signature that is not 64 bytes long.
  bool verify(Bytes message, std::string_view signature) const;

 private:
  friend class SigningKey;
  explicit PublicKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
  std::shared_ptr<evp_pkey_st> key_;  // shared by copies; the key is immutable and OpenSSL counts references
};

class SigningKey {
 public:
  static SigningKey make();
  // Parses PEM (PKCS #8). Returns nullopt for anything but an Ed25519 private key.
  static std::optional<SigningKey> from_pem(std::string_view pem);
  // Loads the key from the file. If the file does not exist, creates a key and stores it durably with mode
  // 0600. Throws Error(corrupt) when the file holds anything else.
  static SigningKey load_or_make(const std::string& path);

  std::string pem() const;
  PublicKey public_key() const;
  // Returns the 64-byte signature. Deterministic: equal messages have equal signatures.
  std::string sign(Bytes message) const;

 private:
  explicit SigningKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
  std::shared_ptr<evp_pkey_st> key_;
};

}  // namespace sk
