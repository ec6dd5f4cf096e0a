// Third-party tokens for users (JSON Web Tokens, RFC 7519), verified with one public key.
//
// The key determines the algorithm, never the token: an Ed25519 key accepts only EdDSA, an RSA key only
// RS256. Therefore neither "none" nor a public key used as an HMAC secret is accepted.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json.h"

struct evp_pkey_st;

namespace sk::identity {

struct JwtRules {
  std::string issuer;     // required `iss`; empty: any
  std::string audience;   // required `aud`, or element of it; empty: any
  int64_t life_max_s;     // limit on the time from `iat`, or from now, to `exp`
  int64_t leeway_s = 60;  // allowed clock difference
};

struct JwtClaims {
  std::string subject;  // `sub`: 1 to 256 bytes of text, no control characters
  Json all;             // all signed claims
};

// Immutable value; thread-safe.
class JwtVerifier {
 public:
  // Returns nullopt unless the text is an Ed25519 or RSA public key in PEM. Rejects RSA keys below 2048 bits.
  static std::optional<JwtVerifier> from_pem(std::string_view pem, JwtRules rules);

  // Returns whether a credential has the form of a JWT. Our own keys never do.
  static bool looks_like_token(std::string_view text);

  // Returns the claims. Throws Error(unauthorized) unless the token is complete, signed by the key, and valid
  // at `now_us`. A token must have an expiry, and its life has a limit.
  JwtClaims verify(std::string_view token, TimeUs now_us) const;

 private:
  JwtVerifier(std::shared_ptr<evp_pkey_st> key, std::string algorithm, JwtRules rules)
      : key_(std::move(key)), algorithm_(std::move(algorithm)), rules_(std::move(rules)) {}

  void check_header(std::string_view encoded) const;
  bool signature_holds(std::string_view message, std::string_view signature) const;
  void check_times(const Json& claims, TimeUs now_us) const;
  void check_parties(const Json& claims) const;

  std::shared_ptr<evp_pkey_st> key_;  // shared by copies; immutable, OpenSSL counts references
  std::string algorithm_;             // "EdDSA" or "RS256"
  JwtRules rules_;
};

}  // namespace sk::identity
