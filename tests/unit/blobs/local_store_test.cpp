#include "blobs/local_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>

#include "blobs/segments.h"
#include "unit/blobs/local_harness.h"
#include "unit/blobs/store_conformance.h"

namespace sk::blobs::test {
namespace {

namespace fs = std::filesystem;

// What processors without a SHA unit do.
struct PortableHarness : LocalHarness {
  PortableHarness() : LocalHarness(LocalStore::Hashing::portable) {}
};

using Harnesses = testing::Types<LocalHarness, PortableHarness>;
INSTANTIATE_TYPED_TEST_SUITE_P(Local, StoreConformance, Harnesses);

// Runs `body` in a child process, whose limits and mounts may then be changed; yields what it returns. Values
// from 100 on are the helper's.
template <class Body>
int in_child(const Body& body) {
  const pid_t child = ::fork();
  SK_CHECK(child >= 0);
  if (child == 0) {
    int result = 100;
    try {
      result = body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "the child: %s\n", error.what());
    }
    ::_exit(result);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

constexpr int kSkipped = 77;

// Returns 0 when writing `size` bytes fails with `expected` and leaves nothing, and a small content is kept
// afterwards.
int fails_cleanly(const std::string& directory, size_t size, Code expected) {
  LocalStore store(directory);
  MemoryCatalog catalog;
  if (code_of([&] { write_content(store, catalog, random_bytes(size, 1)); }) != expected) return 1;
  if (count_entries(directory + "/new") != 0) return 2;
  if (!list_files(store).empty()) return 3;
  if (catalog.pin_count() != 0) return 4;
  const auto small = random_bytes(200 * 1024, 2);
  return catalog.read(store, keep(store, catalog, small)) == small ? 0 : 5;
}

TEST(LocalStore, AFullDiskFailsTheWriteAndLeavesNothing) {
  TemporaryFolder folder;
  for (size_t size : {size_t{900} * 1024, 30 * kMebibyte}) {
    const int result = in_child([&] {
      if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        return kSkipped;
      const char* options = size > kMebibyte ? "size=6m" : "size=500k";
      if (::mount("none", folder.path().c_str(), "tmpfs", 0, options) != 0) return kSkipped;
      return fails_cleanly(folder.path() + "/blobs", size, Code::disk_full);
    });
    if (result == kSkipped) GTEST_SKIP() << "needs the right to mount a small file system";
    EXPECT_EQ(result, 0) << size;
  }
}

TEST(LocalStore, AWriteThatTheSystemRefusesFailsAndLeavesNothing) {
  TemporaryFolder folder;
  const int result = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{300 * 1024, 300 * 1024};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 99;
    for (size_t size : {size_t{400} * 1024, 50 * kMebibyte})
      if (const int failed = fails_cleanly(folder.path() + "/" + std::to_string(size), size, Code::internal))
        return failed;
    return 0;
  });
  EXPECT_EQ(result, 0);
}

TEST(LocalStore, AWriterThatWasKilledLeavesNothingAfterTheNextStart) {
  TemporaryFolder folder;
  const auto directory = folder.path() + "/blobs";
  const int result = in_child([&] {
    LocalStore store(directory);
    MemoryCatalog catalog;
    auto writer = store.begin_write(catalog);
    while (count_entries(directory + "/new") == 0)
      writer->write(as_bytes(random_bytes(kMebibyte, writer->size())));
    ::_exit(42);  // no destructor runs
    return 0;
  });
  EXPECT_EQ(result, 42);
  EXPECT_GT(count_entries(directory + "/new"), 0u);
  LocalStore store(directory);
  EXPECT_EQ(count_entries(directory + "/new"), 0u);
  EXPECT_TRUE(list_files(store).empty());
}

TEST(LocalStore, AFileIsNamedByItsHashAndReadableByTheOwnerOnly) {
  LocalHarness harness;
  MemoryCatalog catalog;
  const Blob blob = catalog.blob(keep(harness.store(), catalog, random_bytes(200 * 1024, 1)));
  EXPECT_EQ(blob.location.substr(2, 64), blob.hash.hex());
  EXPECT_EQ(fs::status(harness.directory() + "/" + blob.location).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST(LocalStore, AllFilesOfOneContentShareADirectory) {
  LocalHarness harness;
  MemoryCatalog catalog;
  auto written = write_content(harness.store(), catalog, random_bytes(12 * kMebibyte, 1));
  std::set<std::string> directories;
  for (const auto& piece : written.pieces())
    if (piece.kind == Kind::file) directories.insert(piece.location.substr(0, 1));
  EXPECT_EQ(directories.size(), 1u);
}

TEST(LocalStore, AFileThatWasCutShortIsCorrupt) {
  LocalHarness harness;
  MemoryCatalog catalog;
  const Blob blob = catalog.blob(keep(harness.store(), catalog, random_bytes(200 * 1024, 1)));
  harness.store().open(blob.location, blob.hash, blob.size);
  fs::resize_file(harness.directory() + "/" + blob.location, blob.size - 1);
  EXPECT_EQ(code_of([&] { harness.store().open(blob.location, blob.hash, blob.size); }), Code::corrupt);
}

TEST(LocalStore, FilesThatAreNotBlobsAreNotListed) {
  LocalHarness harness;
  write_file_durably(harness.directory() + "/0/README", "not ours", 0600);
  EXPECT_TRUE(list_files(harness.store()).empty());
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(LocalStore, AWritersMemoryDoesNotGrowWithTheContent) {
  TemporaryFolder folder;
  const int used_mebibytes = in_child([&] {
    LocalStore store(folder.path() + "/blobs");
    MemoryCatalog catalog;
    const auto peak_kib = [] {
      rusage usage;
      ::getrusage(RUSAGE_SELF, &usage);
      return usage.ru_maxrss;
    };
    const auto block = random_bytes(kMebibyte, 1);
    const auto before = peak_kib();
    auto writer = store.begin_write(catalog);
    for (int i = 0; i < 200; ++i) writer->write(as_bytes(block));
    writer->finish();
    return static_cast<int>((peak_kib() - before) >> 10);
  });
  EXPECT_LT(used_mebibytes, 32);
}
#endif

TEST(SegmentPool, NeverMakesMoreThanItsNumber) {
  SegmentPool pool(3);
  std::set<std::byte*> seen;
  std::deque<Segment> held;
  for (int i = 0; i < 100; ++i) {
    if (held.size() == 3) held.pop_front();
    held.push_back(pool.take());
    seen.insert(held.back().get());
  }
  EXPECT_EQ(seen.size(), 3u);
}

TEST(SegmentPool, AWaiterGetsTheFirstReturnedSegment) {
  SegmentPool pool(1);
  auto segment = pool.take();
  std::byte* const memory = segment.get();
  std::thread waiter([&] { EXPECT_EQ(pool.take().get(), memory); });
  segment.reset();
  waiter.join();
}

}  // namespace
}  // namespace sk::blobs::test
