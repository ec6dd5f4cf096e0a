#include "base/hash.h"

#include <gtest/gtest.h>
#include "support/property.h"

namespace sk {
namespace {

TEST(Hash, Sha256MatchesTheVectorsOfFips180) {
  EXPECT_EQ(sha256("").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc").hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").hex(),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Hash, HmacMatchesTheVectorsOfRfc4231) {
  EXPECT_EQ(hmac_sha256(std::string(20, '\x0b'), "Hi There").hex(),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hmac_sha256("Jefe", "what do ya want for nothing?").hex(),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(
      hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First").hex(),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

RC_GTEST_PROP(HashProperty, AStreamOfPiecesHashesAsTheWhole, (const std::vector<std::string>& pieces)) {
  Sha256Stream stream;
  std::string whole;
  for (const auto& piece : pieces) {
    stream.update(as_bytes(piece));
    whole += piece;
    RC_ASSERT(stream.digest() == sha256(whole));
  }
}

TEST(Hash, ACopiedStreamIsIndependent) {
  Sha256Stream first;
  first.update(as_bytes("a"));
  Sha256Stream second(first);
  second.update(as_bytes("b"));
  EXPECT_EQ(first.digest(), sha256("a"));
  EXPECT_EQ(second.digest(), sha256("ab"));
}

RC_GTEST_PROP(HashProperty, AHashReadsBackFromHexAndRaw, (const std::string& text)) {
  auto hash = sha256(text);
  RC_ASSERT(Sha256::from_hex(hash.hex()) == hash);
  RC_ASSERT(Sha256::from_raw(hash.raw()) == hash);
}

TEST(Hash, RefusesHexOfAnotherLength) {
  EXPECT_FALSE(Sha256::from_hex(""));
  EXPECT_FALSE(Sha256::from_hex(std::string(62, '0')));
  EXPECT_FALSE(Sha256::from_hex(std::string(66, '0')));
  EXPECT_FALSE(Sha256::from_hex(std::string(64, 'x')));
}

TEST(HashDeathTest, RawBytesOfAnotherLengthAreABug) { EXPECT_DEATH(Sha256::from_raw("short"), "CHECK"); }

TEST(Hash, ConstantTimeComparisonIsAComparison) {
  EXPECT_TRUE(equal_constant_time("secret", "secret"));
  EXPECT_TRUE(equal_constant_time("", ""));
  EXPECT_FALSE(equal_constant_time("secret", "secres"));
  EXPECT_FALSE(equal_constant_time("secret", "secret "));
}

TEST(Hash, RandomTextHasTheAskedLengthAndDiffers) {
  auto first = random_base64url(24);
  EXPECT_EQ(first.size(), 32u);
  EXPECT_NE(first, random_base64url(24));
  EXPECT_EQ(random_base64url(0), "");
}

}  // namespace
}  // namespace sk
