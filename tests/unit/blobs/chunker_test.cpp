#include "blobs/chunker.h"

#include <gtest/gtest.h>
#include "support/property.h"

#include <set>

#include "unit/blobs/support.h"

namespace sk::blobs::test {
namespace {

constexpr ChunkSizes kSmall{.min = 32, .average = 128, .max = 512};

// Feeds the content in pieces of the given sizes, used in turn; yields the chunks.
std::vector<std::string> chunks_of(std::string_view content, ChunkSizes sizes,
                                   const std::vector<size_t>& piece_sizes) {
  Chunker chunker(sizes);
  std::vector<std::string> chunks(1);
  for (size_t turn = 0; !content.empty(); ++turn) {
    auto piece = content.substr(0, piece_sizes[turn % piece_sizes.size()]);
    content.remove_prefix(piece.size());
    while (!piece.empty()) {
      const auto end = chunker.feed(as_bytes(piece));
      chunks.back() += piece.substr(0, end.value_or(piece.size()));
      piece.remove_prefix(end.value_or(piece.size()));
      if (end) chunks.emplace_back();
    }
  }
  if (chunks.back().empty()) chunks.pop_back();
  return chunks;
}

std::string joined(const std::vector<std::string>& chunks) {
  std::string out;
  for (const auto& chunk : chunks) out += chunk;
  return out;
}

// Random bytes, of which rapidcheck chooses only length and seed: shrinking thousands of bytes one by one
// would take for ever.
std::string arbitrary_content(size_t bytes_max) {
  const auto size = *rc::gen::inRange<size_t>(0, bytes_max);
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  return random_bytes(size, seed);
}

// The definition in STORAGE_FORMAT.md, written down as directly as possible.
size_t first_chunk_by_definition(std::string_view content, ChunkSizes sizes) {
  const int bits = static_cast<int>(std::bit_width(sizes.average)) - 1;
  uint64_t hash = 0;
  for (size_t length = sizes.min + 1; length <= content.size(); ++length) {
    hash = hash * 2 + gear_table()[static_cast<unsigned char>(content[length - 1])];
    const int zero_bits = length <= sizes.average ? bits + 2 : bits - 2;
    if (hash >> (64 - zero_bits) == 0 || length == sizes.max) return length;
  }
  return content.size();
}

// Content with runs of zeros between other bytes, as a sparse file has.
TEST(Chunker, RunsOfZerosAreCutAsTheDefinitionSays) {
  constexpr ChunkSizes kMiddle{.min = 3'000, .average = 16'384, .max = 65'536};
  for (size_t zeros : {1u, 63u, 64u, 4'095u, 4'096u, 20'000u, 70'000u, 300'000u}) {
    std::string content;
    for (uint64_t seed = 0; seed < 4; ++seed) {
      content += random_bytes(997 * (seed + 1), seed);
      content.append(zeros, '\0');
    }
    for (const auto& pieces : {std::vector<size_t>{content.size()}, {4'096}, {1'000, 77'777}, {5}}) {
      auto rest = std::string_view(content);
      for (const auto& chunk : chunks_of(content, kMiddle, pieces)) {
        ASSERT_EQ(chunk.size(), first_chunk_by_definition(rest, kMiddle)) << zeros;
        rest.remove_prefix(chunk.size());
      }
      EXPECT_TRUE(rest.empty());
    }
  }
}

TEST(Chunker, TheGearTableIsTheOneThatIsDocumented) {
  std::string table;
  for (uint64_t entry : gear_table())
    for (int shift = 56; shift >= 0; shift -= 8) table += static_cast<char>(entry >> shift);
  EXPECT_EQ(gear_table()[0], 0xff14843b0896abd2);
  EXPECT_EQ(sha256(table).hex(), "ecf5165d87be3f11e51a11d806da6f39ae7a1e8da6066704523143950aba7b00");
}

TEST(Chunker, TheCutsOfAKnownContentNeverChange) {
  const auto content = random_bytes(24 << 20, 2026);
  std::string sizes;
  for (const auto& chunk : chunks_of(content, kChunkSizes, {1 << 20}))
    sizes += std::to_string(chunk.size()) + " ";
  EXPECT_EQ(sizes, "1948852 3106988 3798298 2477225 2629219 2232529 3008897 3909987 2053829 ");
}

RC_GTEST_PROP(Chunker, TheChunksTogetherAreTheContent, ()) {
  const auto content = arbitrary_content(20'000);
  RC_ASSERT(joined(chunks_of(content, kSmall, {1000})) == content);
}

RC_GTEST_PROP(Chunker, CutsDoNotDependOnHowTheBytesArrive, ()) {
  const auto content = arbitrary_content(20'000);
  const auto pieces =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(1, 700)));
  RC_ASSERT(chunks_of(content, kSmall, pieces) == chunks_of(content, kSmall, {content.size() + 1}));
}

RC_GTEST_PROP(Chunker, CutsAreWhereTheDefinitionSays, ()) {
  const auto content = arbitrary_content(20'000);
  std::string_view rest = content;
  for (const auto& chunk : chunks_of(content, kSmall, {777})) {
    RC_ASSERT(chunk.size() == first_chunk_by_definition(rest, kSmall));
    rest.remove_prefix(chunk.size());
  }
}

RC_GTEST_PROP(Chunker, EveryChunkButTheLastKeepsToTheSizes, ()) {
  auto chunks = chunks_of(arbitrary_content(50'000), kSmall, {4096});
  if (!chunks.empty()) chunks.pop_back();
  for (const auto& chunk : chunks) RC_ASSERT(chunk.size() > kSmall.min && chunk.size() <= kSmall.max);
}

RC_GTEST_PROP(Chunker, AChunkDependsOnlyOnTheBytesSinceItsStart, ()) {
  const auto content = arbitrary_content(20'000);
  const auto chunks = chunks_of(content, kSmall, {content.size() + 1});
  RC_PRE(chunks.size() > 3);
  const auto rest = content.substr(chunks[0].size() + chunks[1].size());
  RC_ASSERT(chunks_of(rest, kSmall, {rest.size()}) ==
            std::vector<std::string>(chunks.begin() + 2, chunks.end()));
}

TEST(Chunker, AnInsertionNearTheStartChangesOnlyTheFirstChunks) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto content = random_bytes(200'000, seed);
    const auto before = chunks_of(content, kSmall, {content.size()});
    const auto edited = content.substr(0, 50) + "inserted" + content.substr(50);
    const auto after = chunks_of(edited, kSmall, {edited.size()});
    const std::set<std::string> old_chunks(before.begin(), before.end());
    const auto is_new = [&](const std::string& chunk) { return !old_chunks.contains(chunk); };
    EXPECT_LE(std::count_if(after.begin(), after.end(), is_new), 30) << "seed " << seed;
    EXPECT_GT(after.size(), 900u) << "seed " << seed;
  }
}

TEST(Chunker, ChunksOfRandomBytesAreAboutTwoMebibytes) {
  const auto content = random_bytes(96 << 20, 1);
  const auto chunks = chunks_of(content, kChunkSizes, {1 << 20});
  EXPECT_GT(chunks.size(), 96u / 3);
  EXPECT_LT(chunks.size(), 96u * 2 / 3);
}

// 64 equal bytes make the rolling hash what it then stays.
TEST(Chunker, ARunOfOneByteHasNoCutBeforeTheLargestSize) {
  for (int value = 0; value < 256; ++value) {
    const auto chunks =
        chunks_of(std::string(kChunkSizes.min + 64, static_cast<char>(value)), kChunkSizes, {1 << 20});
    EXPECT_EQ(chunks.size(), 1u) << value;
    EXPECT_NE((uint64_t{0} - gear_table()[static_cast<size_t>(value)]) >> (64 - 19), 0u) << value;
  }
  const auto chunks = chunks_of(std::string(2 * kChunkSizes.max + 5, '\0'), kChunkSizes, {1 << 20});
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_EQ(chunks[0].size(), kChunkSizes.max);
  EXPECT_EQ(chunks[1].size(), kChunkSizes.max);
  EXPECT_EQ(chunks[2].size(), 5u);
}

}  // namespace
}  // namespace sk::blobs::test
