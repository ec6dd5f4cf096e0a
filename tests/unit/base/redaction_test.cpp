#include "base/redaction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/hash.h"
#include "base/log.h"
#include "support/property.h"

namespace sk {
namespace {

const std::string kKey = "skey_q3Zt_9-uVwXyZ0123456789abcdefghijklmnopqrs";

TEST(Redaction, TextIsDecodedAsOftenAsItIsEncoded) {
  EXPECT_EQ(decode_fully("a%2Fb").text, "a/b");
  EXPECT_EQ(decode_fully("%2573").text, "s");
  EXPECT_EQ(decode_fully("%25%37%33").text, "s");
  EXPECT_EQ(decode_fully("%7%33").text, "s");
  EXPECT_EQ(decode_fully("%252525257Ax").text, "zx");
  EXPECT_EQ(decode_fully("100% %zz %4").text, "100% %zz %4");
  auto decoded = decode_fully("a%2573b");
  EXPECT_EQ(decoded.begins, (std::vector<size_t>{0, 1, 6, 7}));
}

TEST(Redaction, AKeyIsReplacedWhereverItIs) {
  EXPECT_EQ(without_secrets(kKey), "{key}");
  EXPECT_EQ(without_secrets("//librechat/" + kKey + "/v1"), "//librechat/{key}/v1");
  EXPECT_EQ(without_secrets("key=" + kKey + "&other=" + kKey), "key={key}&other={key}");
  EXPECT_EQ(without_secrets("/librechat%2f%73key%5F" + kKey.substr(5) + "%2Fv1"), "/librechat%2f{key}%2Fv1");
  EXPECT_EQ(without_secrets("SKEY_" + kKey.substr(5)), "{key}");
}

TEST(Redaction, OtherTextStaysAsItIs) {
  for (std::string text : {"", "/api/v1/workspaces/ws_0123/files/a%20b.txt", "skey_", "skey_…",
                           "a skey_note.txt", "eyJ.txt", "100%", "ey\xFF\xFE%%%"})
    EXPECT_EQ(without_secrets(text), text);
}

TEST(Redaction, TokensAndNamedSecretsAreReplaced) {
  std::string token = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhbm5hIn0.c2lnbmF0dXJl";
  EXPECT_EQ(without_secrets("/librechat/" + token + "/v1"), "/librechat/{key}/v1");
  EXPECT_EQ(without_secrets("%4" + token), "%4{key}");
  std::string_view others[] = {"an operator's%41 key"};
  EXPECT_EQ(without_secrets("x an operator's%41 key y", others), "x {key} y");
  std::string_view plain[] = {"a-root-key-for-tests"};
  EXPECT_EQ(without_secrets("/a-root-key%2Dfor-tests/", plain), "/{key}/");
}

// Percent-encodes some characters; several times over, with other characters each time.
std::string encoded(std::string text, std::mt19937& random) {
  for (auto level = random() % 4; level > 0; --level) {
    std::string out;
    for (char c : text) {
      const char* digits = random() % 2 == 0 ? "0123456789abcdef" : "0123456789ABCDEF";
      auto byte = static_cast<unsigned char>(c);
      if (random() % 3 != 0)
        out += c;
      else
        out.append("%").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
    text = out;
  }
  return text;
}

std::string surroundings(std::mt19937& random) {
  constexpr std::string_view kPieces[] = {"/",  "//",    "%2f", "%25", "%", "librechat",
                                          "v1", "?key=", "%6c", "a",   "3", "."};
  std::string out;
  for (auto pieces = random() % 6; pieces > 0; --pieces) out += kPieces[random() % std::size(kPieces)];
  return out;
}

RC_GTEST_PROP(Redaction, NoPlaceAndNoEncodingShowsAKey, (uint32_t seed)) {
  std::mt19937 random(seed);
  auto key = std::string(kKeySecretPrefix) + random_base64url(32);
  auto text = surroundings(random) + encoded(key, random) + surroundings(random);
  auto shown = without_secrets(text);
  auto decoded = decode_fully(shown).text;
  for (const auto& line : {shown, decoded}) {
    RC_ASSERT(line.find(key) == std::string::npos);
    for (size_t at = 5; at + 10 <= key.size(); ++at)
      RC_ASSERT(line.find(key.substr(at, 10)) == std::string::npos);
  }
  RC_ASSERT(shown.find("{key}") != std::string::npos);
}

}  // namespace
}  // namespace sk
