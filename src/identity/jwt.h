// Tokens that somebody else signs for their users (JSON Web Tokens, RFC 7519), checked against one public
// key.
//
// The key decides the algorithm, never the token: an Ed25519 key takes EdDSA only, an RSA key RS256 only. So
// neither "none" nor a public key used as an HMAC secret can get in.
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
  std::string issuer;     // `iss` must be this; empty: any
  std::string audience;   // `aud` must be or hold this; empty: any
  int64_t leeway_s = 60;  // how far the two clocks may differ
};

struct JwtClaims {
  std::string subject;  // `sub`: 1 to 256 bytes of text without control characters
  Json all;             // every claim, as it was signed
};

// A value; any thread.
class JwtVerifier {
 public:
  // nullopt for what is not an Ed25519 or RSA public key in PEM, and for RSA keys below 2048 bits.
  static std::optional<JwtVerifier> from_pem(std::string_view pem, JwtRules rules);

  // Whether a credential has the form of a token; ours never do.
  static bool looks_like_token(std::string_view text);

  // Error(unauthorized) for every token that is not whole, signed by the key, and valid at `now_us`. A token
  // must say when it ends.
  JwtClaims verify(std::string_view token, TimeUs now_us) const;

 private:
  JwtVerifier(std::shared_ptr<evp_pkey_st> key, std::string algorithm, JwtRules rules)
      : key_(std::move(key)), algorithm_(std::move(algorithm)), rules_(std::move(rules)) {}

  void check_header(std::string_view encoded) const;
  bool signature_holds(std::string_view message, std::string_view signature) const;
  void check_times(const Json& claims, TimeUs now_us) const;
  void check_parties(const Json& claims) const;

  std::shared_ptr<evp_pkey_st>
      key_;                // shared by copies: OpenSSL counts references, and the key never changes
  std::string algorithm_;  // "EdDSA" or "RS256"
  JwtRules rules_;
};

}  // namespace sk::identity
