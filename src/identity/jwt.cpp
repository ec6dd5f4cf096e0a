#include "identity/jwt.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace sk::identity {

namespace {

constexpr size_t kTokenBytesMax = 16 << 10;
constexpr size_t kSubjectBytesMax = 256;
constexpr int kRsaBitsMin = 2048;

Error refused(std::string why) {
  return Error(Code::unauthorized, "the token is not valid: " + std::move(why))
      .advise(Advice::check_token_settings);
}

// Refuses encrypted keys; otherwise OpenSSL would prompt for a password on the terminal.
int no_password(char*, int, int, void*) { return -1; }

Json read_part(std::string_view encoded, std::string_view what) {
  auto text = from_base64url(encoded);
  if (!text) throw refused(std::string(what) + " is not base64url");
  Json value;
  try {
    value = parse_json(*text, what);
  } catch (const Error& error) {
    throw refused(error.message());
  }
  if (!value.is_object()) throw refused(std::string(what) + " is not an object");
  return value;
}

// Reads seconds since 1970. Refuses a claim of another type.
std::optional<double> time_claim(const Json& claims, const char* name) {
  auto found = claims.find(name);
  if (found == claims.end() || found->is_null()) return std::nullopt;
  if (!found->is_number()) throw refused(std::string(name) + " is not a number");
  return found->get<double>();
}

bool holds_audience(const Json& claims, const std::string& wanted) {
  auto found = claims.find("aud");
  if (found == claims.end()) return false;
  if (found->is_string()) return found->get_ref<const std::string&>() == wanted;
  if (!found->is_array()) return false;
  for (const auto& one : *found)
    if (one.is_string() && one.get_ref<const std::string&>() == wanted) return true;
  return false;
}

std::string subject_of(const Json& claims) {
  auto found = claims.find("sub");
  if (found == claims.end() || !found->is_string()) throw refused("it has no sub");
  auto subject = found->get<std::string>();
  bool control = false;
  for (char c : subject) control = control || static_cast<unsigned char>(c) < 32 || c == 127;
  if (trim(subject).empty() || subject.size() > kSubjectBytesMax || control)
    throw refused("its sub is not 1 to 256 bytes of text");
  return subject;
}

}  // namespace

std::optional<JwtVerifier> JwtVerifier::from_pem(std::string_view pem, JwtRules rules) {
  std::unique_ptr<BIO, decltype(&BIO_free)> reader(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())),
                                                   &BIO_free);
  std::shared_ptr<EVP_PKEY> key(PEM_read_bio_PUBKEY(reader.get(), nullptr, &no_password, nullptr),
                                &EVP_PKEY_free);
  if (!key) return std::nullopt;
  int kind = EVP_PKEY_get_base_id(key.get());
  if (kind == EVP_PKEY_ED25519) return JwtVerifier(key, "EdDSA", std::move(rules));
  if (kind == EVP_PKEY_RSA && EVP_PKEY_get_bits(key.get()) >= kRsaBitsMin)
    return JwtVerifier(key, "RS256", std::move(rules));
  return std::nullopt;
}

bool JwtVerifier::looks_like_token(std::string_view text) {
  return text.starts_with("eyJ") && std::count(text.begin(), text.end(), '.') == 2;
}

JwtClaims JwtVerifier::verify(std::string_view token, TimeUs now_us) const {
  if (token.size() > kTokenBytesMax) throw refused("it has more than 16 KiB");
  auto parts = split(token, '.');
  if (parts.size() != 3) throw refused("it does not have three parts");
  check_header(parts[0]);
  auto signature = from_base64url(parts[2]);
  auto message = token.substr(0, parts[0].size() + 1 + parts[1].size());
  if (!signature || !signature_holds(message, *signature)) throw refused("its signature does not hold");
  JwtClaims out;
  out.all = read_part(parts[1], "its payload");
  check_times(out.all, now_us);
  check_parties(out.all);
  out.subject = subject_of(out.all);
  return out;
}

void JwtVerifier::check_header(std::string_view encoded) const {
  Json header = read_part(encoded, "its header");
  auto algorithm = header.find("alg");
  if (algorithm == header.end() || !algorithm->is_string() ||
      algorithm->get_ref<const std::string&>() != algorithm_)
    throw refused("the configured key takes " + algorithm_ + " only");
  // RFC 7515: unknown critical extensions must be refused, and we know none.
  if (header.contains("crit")) throw refused("it needs extensions that this server does not know");
}

bool JwtVerifier::signature_holds(std::string_view message, std::string_view signature) const {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  SK_CHECK(context != nullptr);
  const EVP_MD* digest = algorithm_ == "RS256" ? EVP_sha256() : nullptr;
  SK_CHECK(EVP_DigestVerifyInit(context.get(), nullptr, digest, nullptr, key_.get()) == 1);
  return EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()),
                          signature.size(), reinterpret_cast<const unsigned char*>(message.data()),
                          message.size()) == 1;
}

void JwtVerifier::check_times(const Json& claims, TimeUs now_us) const {
  double now_s = static_cast<double>(now_us) / kSecondUs;
  auto leeway_s = static_cast<double>(rules_.leeway_s);
  auto ends = time_claim(claims, "exp");
  if (!ends) throw refused("it does not say when it ends (exp)");
  if (!(now_s < *ends + leeway_s)) throw refused("it has expired");
  for (const char* name : {"nbf", "iat"}) {
    auto begins = time_claim(claims, name);
    if (begins && !(now_s > *begins - leeway_s))
      throw refused("it is not valid yet (" + std::string(name) + ")");
  }
  // Nothing revokes a token, so one that leaks must end soon. Without `iat`, its life began before now.
  double began_s = time_claim(claims, "iat").value_or(now_s);
  if (!(*ends - began_s <= static_cast<double>(rules_.life_max_s) + leeway_s))
    throw refused("it is valid for more than " + std::to_string(rules_.life_max_s) +
                  " s (librechat_jwt_life_max_s)");
}

void JwtVerifier::check_parties(const Json& claims) const {
  if (!rules_.issuer.empty()) {
    auto issuer = claims.find("iss");
    if (issuer == claims.end() || !issuer->is_string() ||
        issuer->get_ref<const std::string&>() != rules_.issuer)
      throw refused("it is from another issuer");
  }
  if (!rules_.audience.empty() && !holds_audience(claims, rules_.audience))
    throw refused("it is meant for another audience");
}

}  // namespace sk::identity
