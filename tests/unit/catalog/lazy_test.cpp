// Writes that survive a kill but need not survive a power cut: written to the log, not synced.
#include <sys/syscall.h>

#include <thread>

#include "unit/catalog/support.h"

namespace {
std::atomic<int> syncs{0};
}

// In place of the C library's, for SQLite, which is part of this program.
extern "C" int fdatasync(int fd) {
  ++syncs;
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}
extern "C" int fsync(int fd) {
  ++syncs;
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace sk::catalog::test {
namespace {

class LazyTest : public testing::Test {
 protected:
  void open(SqliteOptions options = {}) { db = open_sqlite(dir.file("catalog.db"), options); }
  // How often the disk was synced by a write of that name.
  int syncs_of(const std::string& name, Survives survives) {
    int before = syncs;
    db->write(Scope::shared(), [&](Tx& tx) { put_named(tx, name); }, survives);
    return syncs - before;
  }
  // What another process finds after this one was killed: the files as they are now.
  std::vector<std::string> names_after_a_kill() {
    TempDir other;
    for (const char* name : {"catalog.db", "catalog.db-wal"})
      std::filesystem::copy_file(dir.file(name), other.file(name));
    auto found = open_sqlite(other.file("catalog.db"), {});
    EXPECT_EQ(integrity_of(*found), "ok");
    return names_in(*found);
  }

  TempDir dir;
  std::unique_ptr<Database> db;
};

TEST_F(LazyTest, ALazyWriteIsInTheLogWithoutASync) {
  open();
  EXPECT_GT(syncs_of("strict", Survives::power_cut), 0);
  EXPECT_EQ(syncs_of("lazy", Survives::kill), 0);
  EXPECT_EQ(names_after_a_kill(), (std::vector<std::string>{"lazy", "strict"}));
  EXPECT_GT(syncs_of("strict again", Survives::power_cut), 0);
}

TEST_F(LazyTest, TheBeginningOfALogIsAlwaysSynced) {
  // Every commit moves its pages, so that the next one begins the log anew.
  open({.background_pages = 1, .front_pages = 1});
  for (int i = 0; i < 5; ++i) EXPECT_GT(syncs_of("lazy " + std::to_string(i), Survives::kill), 0) << i;
  EXPECT_EQ(names_after_a_kill().size(), 5u);
}

TEST_F(LazyTest, OneStrictMemberMakesAGroupStrict) {
  open();
  syncs_of("first", Survives::power_cut);
  // While the first write holds the turn, the others gather behind it and become one group.
  std::atomic<bool> go_on{false};
  std::vector<std::thread> writers;
  writers.emplace_back([&] {
    db->write(
        Scope::shared(),
        [&](Tx& tx) {
          put_named(tx, "holds the turn");
          while (!go_on) std::this_thread::yield();
        },
        Survives::kill);
  });
  while (db->queued_writes() < 1) std::this_thread::yield();
  for (int i = 0; i < 4; ++i)
    writers.emplace_back([&, i] {
      db->write(
          Scope::shared(), [&](Tx& tx) { put_named(tx, "member " + std::to_string(i)); },
          i == 2 ? Survives::power_cut : Survives::kill);
    });
  while (db->queued_writes() < 5) std::this_thread::yield();
  int before = syncs;
  go_on = true;
  for (auto& writer : writers) writer.join();
  EXPECT_EQ(syncs - before, 1);
  EXPECT_EQ(names_after_a_kill().size(), 6u);
}

}  // namespace
}  // namespace sk::catalog::test
