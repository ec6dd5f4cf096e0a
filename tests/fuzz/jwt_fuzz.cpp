// Any text as a token: it is refused as unauthorized, and nothing else happens. Nobody who does not have the
// private key gets in.
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "base/signing.h"
#include "identity/jwt.h"

namespace {

const sk::identity::JwtVerifier& verifier() {
  static const auto one = sk::identity::JwtVerifier::from_pem(
      sk::SigningKey::make().public_key().pem(), {.issuer = "i", .audience = "a", .life_max_s = 3600});
  return *one;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  // A header that is right lets the text reach the signature and what stands behind it.
  for (const auto& token : {text, "eyJhbGciOiJFZERTQSJ9." + text, "eyJhbGciOiJFZERTQSJ9.e30." + text}) {
    try {
      verifier().verify(token, 1'800'000'000 * sk::kSecondUs);
      std::abort();
    } catch (const sk::Error& error) {
      if (error.code() != sk::Code::unauthorized) std::abort();
    }
  }
  return 0;
}
