#include "identity/jwt.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include "support/property.h"

#include "base/error.h"
#include "base/text.h"

namespace sk::identity {
namespace {

constexpr TimeUs kNow = 1'800'000'000 * kSecondUs;

// A private key of somebody who signs tokens.
class Signer {
 public:
  explicit Signer(EVP_PKEY* key) : key_(key, &EVP_PKEY_free) {}
  static Signer ed25519() { return Signer(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")); }
  static Signer rsa(size_t bits) { return Signer(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", bits)); }

  std::string public_pem() const {
    std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), &BIO_free);
    PEM_write_bio_PUBKEY(bio.get(), key_.get());
    char* data = nullptr;
    auto size = BIO_get_mem_data(bio.get(), &data);
    return std::string(data, static_cast<size_t>(size));
  }
  bool is_rsa() const { return EVP_PKEY_get_base_id(key_.get()) == EVP_PKEY_RSA; }
  std::string algorithm() const { return is_rsa() ? "RS256" : "EdDSA"; }

  std::string sign(const std::string& message) const {
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
    EVP_DigestSignInit(context.get(), nullptr, is_rsa() ? EVP_sha256() : nullptr, nullptr, key_.get());
    auto* bytes = reinterpret_cast<const unsigned char*>(message.data());
    size_t size = 0;
    EVP_DigestSign(context.get(), nullptr, &size, bytes, message.size());
    std::string out(size, '\0');
    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size, bytes, message.size());
    out.resize(size);
    return out;
  }
  std::string token(const Json& claims, Json header = Json::object()) const {
    if (!header.contains("alg")) header["alg"] = algorithm();
    std::string message = to_base64url(as_bytes(header.dump()));
    message += "." + to_base64url(as_bytes(claims.dump()));
    return message + "." + to_base64url(as_bytes(sign(message)));
  }

 private:
  std::shared_ptr<EVP_PKEY> key_;
};

constexpr int64_t kLifeMaxS = 3600;

Json claims(Json changes = Json::object()) {
  Json out = {{"sub", "user-1"}, {"iss", "us"}, {"aud", "them"}, {"exp", kNow / kSecondUs + 300}};
  for (const auto& [name, value] : changes.items()) out[name] = value;
  return out;
}

class JwtTest : public testing::TestWithParam<bool> {
 protected:
  // RSA keys are slow to make, so one serves all tests.
  static const Signer& signer() {
    static const Signer rsa = Signer::rsa(2048), ed25519 = Signer::ed25519();
    return GetParam() ? rsa : ed25519;
  }
  static JwtVerifier verifier(JwtRules rules = {"us", "them", kLifeMaxS}) {
    return JwtVerifier::from_pem(signer().public_pem(), rules).value();
  }
  static std::string subject_of(const std::string& token, JwtRules rules = {"us", "them", kLifeMaxS}) {
    try {
      return verifier(rules).verify(token, kNow).subject;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::unauthorized);
      return "refused";
    }
  }
};
INSTANTIATE_TEST_SUITE_P(EdDSAAndRS256, JwtTest, testing::Bool());

TEST_P(JwtTest, AValidTokenTellsItsSubject) {
  EXPECT_EQ(subject_of(signer().token(claims())), "user-1");
  EXPECT_EQ(subject_of(signer().token(claims({{"aud", {"x", "them"}}}))), "user-1");
  EXPECT_EQ(subject_of(signer().token(claims({{"iss", 5}, {"aud", Json()}})), {"", "", kLifeMaxS}), "user-1");
}

TEST_P(JwtTest, TimesIssuerAudienceAndSubjectMustBeRight) {
  int64_t now_s = kNow / kSecondUs;
  for (const Json& wrong : std::vector<Json>{{{"exp", now_s - 61}},
                                             {{"exp", "x"}},
                                             {{"exp", Json()}},
                                             {{"nbf", now_s + 61}},
                                             {{"iat", now_s + 61}},
                                             {{"nbf", "x"}},
                                             {{"iss", "others"}},
                                             {{"iss", {"us"}}},
                                             {{"aud", "others"}},
                                             {{"aud", Json::array()}},
                                             {{"aud", {{"a", 1}}}},
                                             {{"sub", ""}},
                                             {{"sub", 1}},
                                             {{"sub", "a\nb"}},
                                             {{"sub", std::string(257, 'a')}}})
    EXPECT_EQ(subject_of(signer().token(claims(wrong))), "refused") << wrong;
  EXPECT_EQ(subject_of(signer().token(claims({{"exp", now_s - 59}, {"nbf", now_s + 59}}))), "user-1");
}

TEST_P(JwtTest, TheLifeOfATokenHasALimit) {
  int64_t now_s = kNow / kSecondUs;
  auto subject = [&](const Json& changes) { return subject_of(signer().token(claims(changes))); };
  EXPECT_EQ(subject({{"exp", now_s + kLifeMaxS}}), "user-1");
  EXPECT_EQ(subject({{"exp", now_s + kLifeMaxS + 61}}), "refused");
  EXPECT_EQ(subject({{"exp", 1e300}}), "refused");
  // Also in its last minutes, and when it claims to begin later.
  EXPECT_EQ(subject({{"iat", now_s - kLifeMaxS}, {"exp", now_s + 300}}), "refused");
  EXPECT_EQ(subject({{"iat", now_s - kLifeMaxS + 300}, {"exp", now_s + 300}}), "user-1");
  EXPECT_EQ(subject({{"iat", -1e300}, {"exp", now_s + 300}}), "refused");
}

TEST_P(JwtTest, TheKeyDecidesTheAlgorithmAndNotTheToken) {
  for (const char* algorithm : {"none", "HS256", "RS512", "PS256", "ES256", "eddsa", ""})
    EXPECT_EQ(subject_of(signer().token(claims(), {{"alg", algorithm}})), "refused") << algorithm;
  EXPECT_EQ(subject_of(signer().token(claims(), {{"alg", GetParam() ? "EdDSA" : "RS256"}})), "refused");
  EXPECT_EQ(subject_of(signer().token(claims(), {{"alg", Json::array()}})), "refused");
  EXPECT_EQ(subject_of(signer().token(claims(), {{"crit", {"exp"}}})), "refused");
  EXPECT_EQ(subject_of(Signer::ed25519().token(claims(), {{"alg", signer().algorithm()}})), "refused");
}

RC_GTEST_PROP(JwtProperty, ATokenThatDiffersInOneCharacterIsWorthless, ()) {
  static const Signer signer = Signer::ed25519();
  static const auto verifier = JwtVerifier::from_pem(signer.public_pem(), {}).value();
  static const std::string good = signer.token(claims());
  std::string token = good;
  auto at = *rc::gen::inRange<size_t>(0, token.size());
  token[at] = *rc::gen::arbitrary<char>();
  if (token == good) return;
  try {
    verifier.verify(token, kNow);
    RC_FAIL("accepted: " + token);
  } catch (const Error& error) {
    RC_ASSERT(error.code() == Code::unauthorized);
  }
}

RC_GTEST_PROP(JwtProperty, AnyTextIsRefusedAndNothingElse, ()) {
  static const auto verifier = JwtVerifier::from_pem(Signer::ed25519().public_pem(), {}).value();
  auto text = *rc::gen::arbitrary<std::string>();
  auto parts = *rc::gen::inRange(0, 4);
  for (int i = 0; i < parts; ++i) text += "." + to_base64url(as_bytes(*rc::gen::arbitrary<std::string>()));
  try {
    verifier.verify(text, kNow);
    RC_FAIL("accepted");
  } catch (const Error& error) {
    RC_ASSERT(error.code() == Code::unauthorized);
  }
}

TEST(JwtKeys, OnlyEd25519AndStrongRsaKeysAreTaken) {
  EXPECT_FALSE(JwtVerifier::from_pem("", {}));
  EXPECT_FALSE(JwtVerifier::from_pem("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", {}));
  EXPECT_FALSE(JwtVerifier::from_pem(Signer::rsa(1024).public_pem(), {}));
  EXPECT_FALSE(
      JwtVerifier::from_pem(Signer(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256")).public_pem(), {}));
}

TEST(JwtKeys, OurOwnKeysDoNotLookLikeTokens) {
  EXPECT_TRUE(JwtVerifier::looks_like_token(Signer::ed25519().token(claims())));
  EXPECT_FALSE(JwtVerifier::looks_like_token("skey_abc"));
  EXPECT_FALSE(JwtVerifier::looks_like_token("eyJ.a"));
}

}  // namespace
}  // namespace sk::identity
