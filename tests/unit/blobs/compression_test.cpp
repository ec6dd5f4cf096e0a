#include <gtest/gtest.h>

#include <thread>

#include "blobs/blob_tree.h"
#include "blobs/location.h"
#include "unit/blobs/local_harness.h"

namespace sk::blobs::test {
namespace {

namespace fs = std::filesystem;

std::string compressible_bytes(size_t size) {
  std::string out;
  for (int row = 0; out.size() < size; ++row) out += std::to_string(row) + ",2026-03-01,paid,customer\n";
  out.resize(size);
  return out;
}

Compressed compress_all(Store& store) {
  return store.compress(0, [] { return true; });
}

TEST(LocalStoreCompression, TakesLessRoomAndChangesNothingThatIsRead) {
  LocalHarness harness;
  MemoryCatalog catalog;
  const auto content = compressible_bytes(9 << 20);
  const auto root = keep(harness.store(), catalog, content);
  const auto before = list_files(harness.store());

  const auto done = compress_all(harness.store());
  EXPECT_EQ(done.files_compressed, before.size());
  EXPECT_LT(done.bytes_after * 3, done.bytes_before);
  const auto after = list_files(harness.store());
  ASSERT_EQ(after.size(), before.size());
  uint64_t disk_bytes = 0;
  for (const auto& [location, size] : after) {
    EXPECT_TRUE(before.contains(location));
    EXPECT_FALSE(fs::exists(harness.directory() + "/" + location));
    disk_bytes += size;
  }
  EXPECT_EQ(disk_bytes, done.bytes_after);
  EXPECT_EQ(harness.unfinished(), 0u);

  EXPECT_TRUE(catalog.read(harness.store(), root) == content);
  harness.reopen();
  EXPECT_TRUE(catalog.read(harness.store(), root) == content);
  EXPECT_TRUE(catalog.read(harness.store(), root) == content);
  for (const auto& blob : catalog.files())
    EXPECT_TRUE(harness.store().verify(blob.location, blob.hash, blob.size));
}

TEST(LocalStoreCompression, TriesNothingTwice) {
  LocalHarness harness;
  MemoryCatalog catalog;
  keep(harness.store(), catalog, random_bytes(200 * 1024, 1));
  keep(harness.store(), catalog, compressible_bytes(200 * 1024));
  const auto first = compress_all(harness.store());
  EXPECT_EQ(first.files_tried, 2u);
  EXPECT_EQ(first.files_compressed, 1u);
  harness.reopen();
  EXPECT_EQ(compress_all(harness.store()).files_tried, 0u);
}

TEST(LocalStoreCompression, LeavesYoungFilesAlone) {
  LocalHarness harness;
  MemoryCatalog catalog;
  keep(harness.store(), catalog, compressible_bytes(200 * 1024));
  EXPECT_EQ(harness.store().compress(3600, [] { return true; }).files_tried, 0u);
}

TEST(LocalStoreCompression, StopsWhenItIsTold) {
  LocalHarness harness;
  MemoryCatalog catalog;
  for (size_t size : {200, 201, 202, 203}) keep(harness.store(), catalog, compressible_bytes(size * 1024));
  int answers = 2;
  EXPECT_LE(harness.store().compress(0, [&] { return answers-- > 0; }).files_tried, 2u);
}

TEST(LocalStoreCompression, LeavesADamagedFileToBeFound) {
  LocalHarness harness;
  MemoryCatalog catalog;
  const Blob blob = catalog.blob(keep(harness.store(), catalog, compressible_bytes(200 * 1024)));
  harness.damage(blob.location);
  EXPECT_EQ(compress_all(harness.store()).files_compressed, 0u);
  EXPECT_FALSE(harness.store().verify(blob.location, blob.hash, blob.size));
}

TEST(LocalStoreCompression, AFormThatDoesNotGiveTheBytesBackReplacesNothing) {
  LocalHarness harness;
  MemoryCatalog catalog;
  const Blob blob = catalog.blob(keep(harness.store(), catalog, compressible_bytes(200 * 1024)));
  BlobTree tree(harness.directory());
  const auto refuse = [](const std::string&) { throw Error(Code::internal, "other bytes"); };
  EXPECT_THROW(tree.replace_by_compressed(blob.location, "no frame", refuse), Error);
  EXPECT_TRUE(harness.store().verify(blob.location, blob.hash, blob.size));
  EXPECT_EQ(compress_all(harness.store()).files_compressed, 1u);
}

TEST(LocalStoreCompression, ADamagedCompressedFileIsCorrupt) {
  const auto content = compressible_bytes(200 * 1024);
  LocalHarness harness;
  MemoryCatalog catalog;
  const Blob blob = catalog.blob(keep(harness.store(), catalog, content));
  compress_all(harness.store());
  const auto path = harness.directory() + "/" + blob.location + ".zst";
  const auto good = read_file(path);
  const auto refused = [&](const std::string& bytes) {
    write_file_durably(path, bytes, 0600);
    harness.reopen();
    return !harness.store().verify(blob.location, blob.hash, blob.size) &&
           code_of([&] { harness.store().open(blob.location, blob.hash, blob.size); }) == Code::corrupt;
  };
  for (size_t at = 0; at < good.size(); at += good.size() / 50) {
    auto bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    EXPECT_TRUE(refused(bad)) << at;
    EXPECT_TRUE(refused(good.substr(0, at))) << at;
  }
  EXPECT_TRUE(refused(good + "x"));
  EXPECT_TRUE(refused(good + good));
  EXPECT_FALSE(refused(good));
}

TEST(LocalStoreCompression, AnotherBlobsFileInItsPlaceIsCorrupt) {
  LocalHarness harness;
  MemoryCatalog catalog;
  // Of one size, so that only the bytes tell them apart.
  auto other_content = compressible_bytes(200 * 1024);
  other_content.back() = '!';
  const Blob blob = catalog.blob(keep(harness.store(), catalog, compressible_bytes(200 * 1024)));
  const Blob other = catalog.blob(keep(harness.store(), catalog, other_content));
  for (const std::string form : {"", ".zst"}) {
    if (!form.empty()) compress_all(harness.store());
    const auto path = harness.directory() + "/" + blob.location + form;
    const auto good = read_file(path);
    write_file_durably(path, read_file(harness.directory() + "/" + other.location + form), 0600);
    harness.reopen();
    EXPECT_EQ(code_of([&] { harness.store().open(blob.location, blob.hash, blob.size); }), Code::corrupt);
    EXPECT_FALSE(harness.store().verify(blob.location, blob.hash, blob.size));
    EXPECT_TRUE(harness.store().verify(other.location, other.hash, other.size));
    // Also when the file was good at its first reading.
    write_file_durably(path, good, 0600);
    harness.store().open(blob.location, blob.hash, blob.size);
    write_file_durably(path, read_file(harness.directory() + "/" + other.location + form), 0600);
    EXPECT_FALSE(harness.store().verify(blob.location, blob.hash, blob.size));
    EXPECT_EQ(code_of([&] { harness.store().open(blob.location, blob.hash, blob.size); }), Code::corrupt);
    write_file_durably(path, good, 0600);
  }
}

TEST(LocalStoreCompression, ARemovedBlobIsGoneInBothForms) {
  LocalHarness harness;
  MemoryCatalog catalog;
  const Blob blob = catalog.blob(keep(harness.store(), catalog, compressible_bytes(200 * 1024)));
  const auto plain = read_file(harness.directory() + "/" + blob.location);
  compress_all(harness.store());
  write_file_durably(harness.directory() + "/" + blob.location, plain, 0600);
  EXPECT_EQ(list_files(harness.store()).size(), 1u);
  harness.store().remove(blob.location);
  EXPECT_TRUE(list_files(harness.store()).empty());
  EXPECT_FALSE(harness.store().verify(blob.location, blob.hash, blob.size));
}

TEST(LocalStoreCompression, ABlobThatIsRemovedMeanwhileStaysRemoved) {
  TemporaryFolder folder;
  BlobTree tree(folder.path() + "/blobs");
  const auto location = "0/" + unique_file_name(sha256("x"));
  write_file_durably(tree.path_of(location), "x", 0600);
  EXPECT_FALSE(
      tree.replace_by_compressed(location, "packed", [&](const std::string&) { tree.remove(location); }));
  tree.visit([](const BlobTree::File& file) {
    ADD_FAILURE() << file.location;
    return true;
  });
  EXPECT_EQ(count_entries(folder.path() + "/blobs/new"), 0u);
}

TEST(LocalStoreCompression, DoesNotDisturbReadersAndWriters) {
  LocalHarness harness;
  MemoryCatalog catalog;
  auto& store = harness.store();
  std::atomic<bool> done = false;
  std::thread compressing([&] {
    while (!done) compress_all(store);
  });
  for (size_t round = 0; round < 30; ++round) {
    const auto content = compressible_bytes(300 * 1024 + round);
    const auto root = keep(store, catalog, content);
    EXPECT_TRUE(catalog.read(store, root) == content);
    {
      auto abandoned = write_content(store, catalog, compressible_bytes(290 * 1024 + round));
    }
  }
  done = true;
  compressing.join();
  EXPECT_EQ(list_files(store).size(), 30u);
  for (const auto& blob : catalog.files()) EXPECT_TRUE(store.verify(blob.location, blob.hash, blob.size));
}

}  // namespace
}  // namespace sk::blobs::test
