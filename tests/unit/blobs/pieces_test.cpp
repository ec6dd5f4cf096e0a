#include <gtest/gtest.h>
#include "support/property.h"

#include "blobs/chunker.h"
#include "unit/blobs/support.h"

namespace sk::blobs::test {
namespace {

TEST(Pieces, TheEncodingIsTheOneThatIsDocumented) {
  const auto text = encode_pieces({{sha256("a"), 0x00123456}, {sha256("b"), 1}});
  EXPECT_EQ(to_hex(as_bytes(text)), "01" + sha256("a").hex() + "00123456" + sha256("b").hex() + "00000001");
}

RC_GTEST_PROP(Pieces, WhatIsEncodedIsDecoded, ()) {
  const auto sizes = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<uint32_t>>(rc::gen::inRange<uint32_t>(1, kChunkSizes.max + 1)));
  std::vector<PieceRef> pieces;
  for (auto size : sizes) pieces.push_back({sha256(std::to_string(pieces.size())), size});
  const auto decoded = decode_pieces(encode_pieces(pieces));
  RC_ASSERT(decoded.size() == pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i)
    RC_ASSERT(decoded[i].hash == pieces[i].hash && decoded[i].size == pieces[i].size);
}

TEST(Pieces, WhatIsNotAListIsRefused) {
  const auto good = encode_pieces({{sha256("a"), 5}, {sha256("b"), 6}});
  const auto refused = [](std::string text) {
    return code_of([&] { decode_pieces(text); }) == Code::corrupt;
  };
  EXPECT_FALSE(refused(good));
  EXPECT_TRUE(refused(""));
  EXPECT_TRUE(refused("\1"));
  EXPECT_TRUE(refused("\2" + good.substr(1)));
  for (size_t size = 1; size < good.size(); ++size)
    EXPECT_TRUE(size == 37 || refused(good.substr(0, size))) << size;  // the first piece alone is a list
  EXPECT_TRUE(refused(good + "x"));
  EXPECT_TRUE(refused(encode_pieces({{sha256("a"), 0}})));
  EXPECT_TRUE(refused(encode_pieces({{sha256("a"), kChunkSizes.max + 1}})));
}

}  // namespace
}  // namespace sk::blobs::test
