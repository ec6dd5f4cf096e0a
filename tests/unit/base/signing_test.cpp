#include "base/signing.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include "support/property.h"

#include "base/fd.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace sk {
namespace {

using test::expect_error;
using test::TempFolder;

// The first key of RFC 8032 §7.1, wrapped as PKCS #8.
SigningKey key_of_rfc8032() {
  auto der = from_hex(
                 "302e020100300506032b657004220420"
                 "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
                 .value();
  return SigningKey::from_pem("-----BEGIN PRIVATE KEY-----\n" + to_base64(as_bytes(der)) +
                              "\n-----END PRIVATE KEY-----\n")
      .value();
}

TEST(Signing, MatchesTheVectorOfRfc8032) {
  auto key = key_of_rfc8032();
  EXPECT_EQ(to_hex(as_bytes(key.public_key().raw())),
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  EXPECT_EQ(to_hex(as_bytes(key.sign(as_bytes("")))),
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
            "d25bf5f0595bbe24655141438e7a100b");
}

RC_GTEST_PROP(SigningProperty, ASignatureFitsItsMessageAndNoOther, (const std::string& message)) {
  static const auto key = SigningKey::make();
  auto signature = key.sign(as_bytes(message));
  auto verifier = key.public_key();
  RC_ASSERT(verifier.verify(as_bytes(message), signature));
  RC_ASSERT(!verifier.verify(as_bytes(message + "x"), signature));
  auto at = *rc::gen::inRange<size_t>(0, signature.size());
  signature[at] = static_cast<char>(signature[at] ^ (1 << *rc::gen::inRange(0, 8)));
  RC_ASSERT(!verifier.verify(as_bytes(message), signature));
}

TEST(Signing, ASignatureOfAnotherKeyOrLengthIsRefused) {
  auto ours = SigningKey::make();
  auto theirs = SigningKey::make();
  auto signature = ours.sign(as_bytes("m"));
  EXPECT_FALSE(theirs.public_key().verify(as_bytes("m"), signature));
  EXPECT_FALSE(ours.public_key().verify(as_bytes("m"), ""));
  EXPECT_FALSE(ours.public_key().verify(as_bytes("m"), signature.substr(1)));
  EXPECT_FALSE(ours.public_key().verify(as_bytes("m"), signature + "x"));
}

TEST(Signing, KeysReadBackFromPem) {
  auto key = SigningKey::make();
  auto signature = key.sign(as_bytes("m"));
  auto private_again = SigningKey::from_pem(key.pem());
  auto public_again = PublicKey::from_pem(key.public_key().pem());
  ASSERT_TRUE(private_again && public_again);
  EXPECT_EQ(private_again->sign(as_bytes("m")), signature);
  EXPECT_TRUE(public_again->verify(as_bytes("m"), signature));
}

TEST(Signing, WhatIsNotAnEd25519KeyIsRefused) {
  for (const char* bad : {"", "hello", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}) {
    EXPECT_FALSE(SigningKey::from_pem(bad));
    EXPECT_FALSE(PublicKey::from_pem(bad));
  }
  EXPECT_FALSE(PublicKey::from_pem(SigningKey::make().pem())) << "a private key is not a public one";
  EXPECT_FALSE(SigningKey::from_pem(SigningKey::make().public_key().pem()));
  // An X25519 key has the same shape and another purpose.
  auto der = from_hex("302e020100300506032b656e04220420" + std::string(64, '7')).value();
  EXPECT_FALSE(SigningKey::from_pem("-----BEGIN PRIVATE KEY-----\n" + to_base64(as_bytes(der)) +
                                    "\n-----END PRIVATE KEY-----\n"));
}

TEST(Signing, TheKeyOfAFileIsMadeOnceAndPrivate) {
  TempFolder folder;
  auto first = SigningKey::load_or_make(folder / "journal.key");
  EXPECT_EQ(SigningKey::load_or_make(folder / "journal.key").pem(), first.pem());
  struct stat info{};
  ASSERT_EQ(::stat((folder / "journal.key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(Signing, AFileThatHoldsSomethingElseIsNotReplaced) {
  TempFolder folder;
  write_file_durably(folder / "journal.key", "precious", 0600);
  expect_error(Code::corrupt, [&] { SigningKey::load_or_make(folder / "journal.key"); });
  EXPECT_EQ(read_file(folder / "journal.key"), "precious");
}

}  // namespace
}  // namespace sk
