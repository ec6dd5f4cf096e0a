// What every blob store promises. A store's test defines a harness and instantiates the suite:
//
//   struct LocalHarness {
//     Store& store();                                  // an empty one at first
//     void reopen();                                   // as after a restart of the server
//     void damage(const std::string& location);        // changes one byte behind the store's back
//     size_t unfinished();                             // how many pieces of unfinished writes take up room
//   };
//   INSTANTIATE_TYPED_TEST_SUITE_P(Local, StoreConformance, LocalHarness);
#pragma once

#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "blobs/chunker.h"
#include "unit/blobs/support.h"

namespace sk::blobs::test {

constexpr size_t kMebibyte = 1 << 20;

template <class Harness>
class StoreConformance : public testing::Test {
 protected:
  // Nothing may be pinned, unfinished or unknown when a test ends.
  void TearDown() override {
    EXPECT_EQ(catalog.pin_count(), 0u);
    EXPECT_EQ(harness.unfinished(), 0u);
    std::map<std::string, uint64_t> recorded;
    for (const auto& blob : catalog.files()) recorded.emplace(blob.location, blob.size);
    EXPECT_TRUE(removes_files || list_files(harness.store()) == recorded);
  }

  Harness harness;
  MemoryCatalog catalog;
  bool removes_files = false;
};

TYPED_TEST_SUITE_P(StoreConformance);

TYPED_TEST_P(StoreConformance, AContentOfAnySizeComesBackByteForByte) {
  auto& store = this->harness.store();
  uint64_t seed = 1;
  for (size_t size :
       {size_t{0}, size_t{1}, kInlineBytesMax - 1, kInlineBytesMax, kInlineBytesMax + 1, kWholeBytesMax - 1,
        kWholeBytesMax, kWholeBytesMax + 1, 3 * kMebibyte, 20 * kMebibyte + 17}) {
    const auto content = random_bytes(size, seed++);
    const auto root = keep(store, this->catalog, content);
    EXPECT_EQ(root, sha256(content)) << size;
    EXPECT_TRUE(this->catalog.read(store, root) == content) << size;
  }
}

TYPED_TEST_P(StoreConformance, TheSizeDecidesWhetherAContentIsInlineOneFileOrAList) {
  auto& store = this->harness.store();
  const auto kind_of = [&](size_t size) {
    return write_content(store, this->catalog, random_bytes(size, size)).root().kind;
  };
  EXPECT_EQ(kind_of(0), Kind::inline_bytes);
  EXPECT_EQ(kind_of(kInlineBytesMax), Kind::inline_bytes);
  EXPECT_EQ(kind_of(kInlineBytesMax + 1), Kind::file);
  EXPECT_EQ(kind_of(kWholeBytesMax), Kind::file);
  EXPECT_EQ(kind_of(12 * kMebibyte), Kind::list);
}

TYPED_TEST_P(StoreConformance, ALargeContentThatIsOneChunkIsAPlainFile) {
  // A constant byte has no cut before the largest chunk.
  const std::string content(kChunkSizes.max, 'x');
  auto written = write_content(this->harness.store(), this->catalog, content);
  EXPECT_EQ(written.root().kind, Kind::file);
  EXPECT_EQ(written.root().size, content.size());
  EXPECT_EQ(written.root().hash, sha256(content));
  EXPECT_TRUE(written.pieces().empty());
}

TYPED_TEST_P(StoreConformance, AShortLastChunkIsKeptInline) {
  const std::string content(kChunkSizes.max + 100, 'x');
  auto written = write_content(this->harness.store(), this->catalog, content);
  ASSERT_EQ(written.pieces().size(), 2u);
  EXPECT_EQ(written.pieces()[0].kind, Kind::file);
  EXPECT_EQ(written.pieces()[1].kind, Kind::inline_bytes);
  EXPECT_EQ(written.pieces()[1].bytes, std::string(100, 'x'));
  EXPECT_EQ(decode_pieces(written.root().bytes).size(), 2u);
}

TYPED_TEST_P(StoreConformance, AChunkThatComesTwiceInAContentIsWrittenOnce) {
  auto& store = this->harness.store();
  const std::string content(4 * kChunkSizes.max, '\0');
  const auto root = keep(store, this->catalog, content);
  EXPECT_EQ(list_files(store).size(), 1u);
  EXPECT_EQ(decode_pieces(this->catalog.blob(root).bytes).size(), 4u);
  EXPECT_TRUE(this->catalog.read(store, root) == content);
}

TYPED_TEST_P(StoreConformance, AContentThatIsKeptAlreadyIsNotWrittenAgain) {
  auto& store = this->harness.store();
  for (size_t size : {size_t{100}, 300 * size_t{1024}, 9 * kMebibyte}) {
    const auto content = random_bytes(size, 5);
    const auto root = keep(store, this->catalog, content);
    const auto before = list_files(store);
    auto again = write_content(store, this->catalog, content);
    // Small bytes travel in the record itself, which finds its equal when it is written.
    EXPECT_EQ(again.root().known, size > kInlineBytesMax) << size;
    EXPECT_EQ(again.root().hash, root) << size;
    EXPECT_EQ(again.root().size, size);
    this->catalog.commit(store, again);
    EXPECT_EQ(list_files(store), before);
  }
}

TYPED_TEST_P(StoreConformance, AnEditWritesOnlyTheChunksThatItTouches) {
  auto& store = this->harness.store();
  auto content = random_bytes(30 * kMebibyte, 6);
  keep(store, this->catalog, content);
  const size_t chunks_before = list_files(store).size();
  content.insert(15 * kMebibyte, "a few bytes more");
  auto written = write_content(store, this->catalog, content);
  const auto is_new = [](const Blob& blob) { return !blob.known; };
  EXPECT_LE(std::count_if(written.pieces().begin(), written.pieces().end(), is_new), 2);
  EXPECT_GE(chunks_before, 8u);
  this->catalog.commit(store, written);
  EXPECT_LE(list_files(store).size(), chunks_before + 2);
  EXPECT_TRUE(this->catalog.read(store, sha256(content)) == content);
}

TYPED_TEST_P(StoreConformance, HowTheBytesArriveDoesNotMatter) {
  auto& store = this->harness.store();
  const auto content = random_bytes(7 * kMebibyte + 5, 7);
  const auto expected = write_content(store, this->catalog, content, content.size()).root().bytes;
  for (size_t bytes_per_write : {size_t{1000}, size_t{65536}, kMebibyte, kMebibyte + 1})
    EXPECT_EQ(write_content(store, this->catalog, content, bytes_per_write).root().bytes, expected)
        << bytes_per_write;
}

TYPED_TEST_P(StoreConformance, AnAbandonedWriterLeavesNothing) {
  auto& store = this->harness.store();
  for (size_t size : {size_t{10}, 500 * size_t{1024}, 25 * kMebibyte}) {
    auto writer = store.begin_write(this->catalog);
    writer->write(as_bytes(random_bytes(size, 8)));
    writer.reset();
    EXPECT_EQ(this->harness.unfinished(), 0u) << size;
    EXPECT_TRUE(list_files(store).empty()) << size;
    EXPECT_EQ(this->catalog.pin_count(), 0u) << size;
  }
}

TYPED_TEST_P(StoreConformance, WhatTheCatalogDidNotTakeOverIsRemoved) {
  auto& store = this->harness.store();
  for (size_t size : {500 * size_t{1024}, 9 * kMebibyte}) {
    {
      auto written = write_content(store, this->catalog, random_bytes(size, 9));
      EXPECT_FALSE(list_files(store).empty()) << size;
      EXPECT_GT(this->catalog.pin_count(), 0u) << size;
    }
    EXPECT_TRUE(list_files(store).empty()) << size;
    EXPECT_EQ(this->catalog.pin_count(), 0u) << size;
  }
}

TYPED_TEST_P(StoreConformance, PinsAreHeldUntilTheResultGoes) {
  auto& store = this->harness.store();
  auto written = write_content(store, this->catalog, random_bytes(9 * kMebibyte, 10));
  const size_t pins = written.pieces().size() + 1;
  EXPECT_EQ(this->catalog.pin_count(), pins);
  this->catalog.commit(store, written);
  EXPECT_EQ(this->catalog.pin_count(), pins);
  Written moved = std::move(written);
  EXPECT_EQ(this->catalog.pin_count(), pins);
  moved = Written();
  EXPECT_EQ(this->catalog.pin_count(), 0u);
}

TYPED_TEST_P(StoreConformance, WhatWasCommittedIsThereAfterARestart) {
  const auto small = random_bytes(150 * 1024, 11);
  const auto large = random_bytes(9 * kMebibyte, 12);
  const auto small_root = keep(this->harness.store(), this->catalog, small);
  const auto large_root = keep(this->harness.store(), this->catalog, large);
  this->harness.reopen();
  EXPECT_TRUE(this->catalog.read(this->harness.store(), small_root) == small);
  EXPECT_TRUE(this->catalog.read(this->harness.store(), large_root) == large);
}

TYPED_TEST_P(StoreConformance, ADamagedFileIsNeitherServedNorVerified) {
  const auto root = keep(this->harness.store(), this->catalog, random_bytes(200 * 1024, 13));
  const Blob blob = this->catalog.blob(root);
  this->harness.damage(blob.location);
  this->harness.reopen();
  auto& store = this->harness.store();
  EXPECT_EQ(code_of([&] { store.open(blob.location, blob.hash, blob.size); }), Code::corrupt);
  EXPECT_FALSE(store.verify(blob.location, blob.hash, blob.size));
}

TYPED_TEST_P(StoreConformance, VerifyingReadsTheBytesAgain) {
  auto& store = this->harness.store();
  const Blob blob = this->catalog.blob(keep(store, this->catalog, random_bytes(200 * 1024, 14)));
  store.open(blob.location, blob.hash, blob.size);
  EXPECT_TRUE(store.verify(blob.location, blob.hash, blob.size));
  this->harness.damage(blob.location);
  EXPECT_FALSE(store.verify(blob.location, blob.hash, blob.size));
  // What verification found out, opening knows.
  EXPECT_EQ(code_of([&] { store.open(blob.location, blob.hash, blob.size); }), Code::corrupt);
}

TYPED_TEST_P(StoreConformance, ABlobIsNotOpenedUnderAnotherHashOrSize) {
  auto& store = this->harness.store();
  const Blob blob = this->catalog.blob(keep(store, this->catalog, random_bytes(200 * 1024, 15)));
  store.open(blob.location, blob.hash, blob.size);
  EXPECT_EQ(code_of([&] { store.open(blob.location, sha256("another"), blob.size); }), Code::corrupt);
  EXPECT_EQ(code_of([&] { store.open(blob.location, blob.hash, blob.size - 1); }), Code::corrupt);
  EXPECT_FALSE(store.verify(blob.location, sha256("another"), blob.size));
  EXPECT_FALSE(store.verify(blob.location, blob.hash, blob.size + 1));
}

TYPED_TEST_P(StoreConformance, ARemovedBlobIsGoneAndMayBeRemovedAgain) {
  this->removes_files = true;
  auto& store = this->harness.store();
  const Blob blob = this->catalog.blob(keep(store, this->catalog, random_bytes(200 * 1024, 16)));
  store.open(blob.location, blob.hash, blob.size);
  store.remove(blob.location);
  store.remove(blob.location);
  EXPECT_TRUE(list_files(store).empty());
  EXPECT_FALSE(store.verify(blob.location, blob.hash, blob.size));
  EXPECT_EQ(code_of([&] { store.open(blob.location, blob.hash, blob.size); }), Code::corrupt);
}

TYPED_TEST_P(StoreConformance, AnOpenBlobOutlivesItsRemoval) {
  this->removes_files = true;
  auto& store = this->harness.store();
  const auto content = random_bytes(200 * 1024, 17);
  const Blob blob = this->catalog.blob(keep(store, this->catalog, content));
  const auto open = store.open(blob.location, blob.hash, blob.size);
  store.remove(blob.location);
  std::string out(content.size(), '\0');
  EXPECT_EQ(read_at(open.file->get(), std::as_writable_bytes(std::span(out)), 0, "the blob"), content.size());
  EXPECT_TRUE(out == content);
}

TYPED_TEST_P(StoreConformance, TheSameContentNeverHasTheSameLocationAgain) {
  this->removes_files = true;
  auto& store = this->harness.store();
  const auto content = random_bytes(200 * 1024, 18);
  const auto location = write_content(store, this->catalog, content).root().location;
  EXPECT_NE(write_content(store, this->catalog, content).root().location, location);
}

TYPED_TEST_P(StoreConformance, AListingStopsWhenItIsTold) {
  auto& store = this->harness.store();
  for (uint64_t seed = 0; seed < 5; ++seed) keep(store, this->catalog, random_bytes(200 * 1024, seed));
  int visits = 0;
  store.for_each([&](const std::string&, uint64_t, int64_t) { return ++visits < 3; });
  EXPECT_EQ(visits, 3);
}

TYPED_TEST_P(StoreConformance, ALocationOfAnotherMakingIsRefused) {
  auto& store = this->harness.store();
  for (const char* location : {"", "..", "/etc/passwd", "../../etc/passwd", "new/x", "0/../../x"}) {
    EXPECT_EQ(code_of([&] { store.open(location, sha256(""), 0); }), Code::corrupt) << location;
    EXPECT_EQ(code_of([&] { store.verify(location, sha256(""), 0); }), Code::corrupt) << location;
    EXPECT_EQ(code_of([&] { store.remove(location); }), Code::corrupt) << location;
  }
}

// Refuses to answer after a number of questions.
class FailingCatalog final : public MemoryCatalog {
 public:
  explicit FailingCatalog(int answers) : answers_(answers) {}
  bool pin(const Sha256& hash) override {
    if (answers_-- <= 0) throw Error(Code::unavailable, "no answer");
    return MemoryCatalog::pin(hash);
  }

 private:
  std::atomic<int> answers_;
};

TYPED_TEST_P(StoreConformance, ACatalogThatFailsFailsTheWriteAndNothingIsLeft) {
  auto& store = this->harness.store();
  const auto content = random_bytes(60 * kMebibyte, 19);
  for (int answers : {0, 1, 3, 20}) {
    FailingCatalog failing(answers);
    EXPECT_EQ(code_of([&] { write_content(store, failing, content); }), Code::unavailable) << answers;
    EXPECT_EQ(failing.pin_count(), 0u);
    EXPECT_EQ(this->harness.unfinished(), 0u);
    EXPECT_TRUE(list_files(store).empty());
  }
}

TYPED_TEST_P(StoreConformance, TwoWritersOfTheSameContentBothSucceedAndOneCopyStays) {
  auto& store = this->harness.store();
  for (size_t size : {size_t{200} * 1024, 9 * kMebibyte}) {
    const auto content = random_bytes(size, 20);
    std::barrier together(2);
    const auto write_and_commit = [&] {
      together.arrive_and_wait();
      auto written = write_content(store, this->catalog, content, 64 << 10);
      together.arrive_and_wait();
      this->catalog.commit(store, written);
    };
    std::thread other(write_and_commit);
    write_and_commit();
    other.join();
    EXPECT_TRUE(this->catalog.read(store, sha256(content)) == content);
  }
}

TYPED_TEST_P(StoreConformance, ManyWritersAtOnceDoNotMixTheirBytes) {
  auto& store = this->harness.store();
  std::vector<std::thread> threads;
  for (uint64_t seed = 100; seed < 108; ++seed) {
    threads.emplace_back([&, seed] {
      for (size_t size : {size_t{1000}, size_t{100} * 1024, 3 * kMebibyte}) {
        const auto content = random_bytes(size, seed);
        const auto root = keep(store, this->catalog, content);
        EXPECT_TRUE(this->catalog.read(store, root) == content);
        store.begin_write(this->catalog)->write(as_bytes(content));
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TYPED_TEST_P(StoreConformance, TheRoomIsThatOfTheStoreOrUnknown) {
  auto room = this->harness.store().room();
  EXPECT_TRUE(!room || *room > 0);
}

REGISTER_TYPED_TEST_SUITE_P(
    StoreConformance, TheRoomIsThatOfTheStoreOrUnknown, AContentOfAnySizeComesBackByteForByte,
    TheSizeDecidesWhetherAContentIsInlineOneFileOrAList, ALargeContentThatIsOneChunkIsAPlainFile,
    AShortLastChunkIsKeptInline, AChunkThatComesTwiceInAContentIsWrittenOnce,
    AContentThatIsKeptAlreadyIsNotWrittenAgain, AnEditWritesOnlyTheChunksThatItTouches,
    HowTheBytesArriveDoesNotMatter, AnAbandonedWriterLeavesNothing, WhatTheCatalogDidNotTakeOverIsRemoved,
    PinsAreHeldUntilTheResultGoes, WhatWasCommittedIsThereAfterARestart,
    ADamagedFileIsNeitherServedNorVerified, VerifyingReadsTheBytesAgain,
    ABlobIsNotOpenedUnderAnotherHashOrSize, ARemovedBlobIsGoneAndMayBeRemovedAgain,
    AnOpenBlobOutlivesItsRemoval, TheSameContentNeverHasTheSameLocationAgain, AListingStopsWhenItIsTold,
    ALocationOfAnotherMakingIsRefused, ACatalogThatFailsFailsTheWriteAndNothingIsLeft,
    TwoWritersOfTheSameContentBothSucceedAndOneCopyStays, ManyWritersAtOnceDoNotMixTheirBytes);

}  // namespace sk::blobs::test
