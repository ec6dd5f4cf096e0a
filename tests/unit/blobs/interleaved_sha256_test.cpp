#include "blobs/interleaved_sha256.h"

#include <gtest/gtest.h>
#include "support/property.h"

#include "unit/blobs/support.h"

namespace sk::blobs::test {
namespace {

using Use = InterleavedSha256::Use;

bool parts_are_hashed() {
  InterleavedSha256 hash;
  return hash.end_part().has_value();
}

TEST(InterleavedSha256, OfNothingIsTheHashOfNothing) {
  for (Use use : {Use::best, Use::portable}) EXPECT_EQ(InterleavedSha256(use).whole(), sha256(""));
}

TEST(InterleavedSha256, IsRightForEveryLengthAroundABlock) {
  if (!parts_are_hashed()) GTEST_SKIP() << "this processor has no SHA unit";
  const auto content = random_bytes(400, 1);
  for (size_t first = 0; first <= 130; ++first) {
    for (size_t second = 0; second <= 200; second += 3) {
      InterleavedSha256 hash;
      hash.update(as_bytes(content).first(first));
      ASSERT_EQ(hash.end_part(), sha256(as_bytes(content).first(first)));
      hash.update(as_bytes(content).subspan(first, second));
      ASSERT_EQ(hash.end_part(), sha256(as_bytes(content).subspan(first, second))) << first << " " << second;
      ASSERT_EQ(hash.whole(), sha256(as_bytes(content).first(first + second))) << first << " " << second;
    }
  }
}

RC_GTEST_PROP(InterleavedSha256, AgreesWithOpenSslHoweverTheBytesArrive, ()) {
  // Each number is the size of a piece; parts end behind the pieces of even size.
  const auto sizes = *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(0, 5000));
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  for (Use use : {Use::best, Use::portable}) {
    InterleavedSha256 hash(use);
    std::string whole, part;
    for (size_t size : sizes) {
      const auto piece = random_bytes(size, seed + size);
      hash.update(as_bytes(piece));
      whole += piece;
      part += piece;
      if (size % 2 != 0) continue;
      const auto ended = hash.end_part();
      RC_ASSERT(!ended || *ended == sha256(part));
      part.clear();
    }
    RC_ASSERT(hash.whole() == sha256(whole));
  }
}

TEST(InterleavedSha256, OfALargeContentIsRight) {
  const auto content = random_bytes((20 << 20) + 77, 3);
  InterleavedSha256 hash;
  hash.update(as_bytes(content).first(1'000'001));
  hash.end_part();
  hash.update(as_bytes(content).subspan(1'000'001));
  EXPECT_EQ(hash.whole(), sha256(content));
  const auto part = hash.end_part();
  EXPECT_TRUE(!part || *part == sha256(as_bytes(content).subspan(1'000'001)));
}

TEST(InterleavedSha256, ThePortableWayHashesNoParts) {
  InterleavedSha256 hash(Use::portable);
  hash.update(as_bytes("abc"));
  EXPECT_EQ(hash.end_part(), std::nullopt);
  EXPECT_EQ(hash.whole(), sha256("abc"));
}

}  // namespace
}  // namespace sk::blobs::test
