// The write-ahead log through the catalog's VFS: spilled frames, full disks, checkpoints and restarts.
#include <fcntl.h>

#include <climits>
#include <cstdarg>
#include <thread>

#include "unit/catalog/support.h"

namespace sk::catalog::test {
namespace {

class LogTest : public testing::Test {
 protected:
  void open(SqliteOptions options) {
    db.reset();
    db = open_sqlite(dir.file("catalog.db"), options);
  }
  void expect_large(int wanted) {
    db->read([&](Statements& s) {
      for (int i = 0; i < wanted; ++i) EXPECT_TRUE(has_large(s, i)) << i;
    });
    EXPECT_EQ(integrity_of(*db), "ok");
  }

  TempDir dir;
  std::unique_ptr<Database> db;
};

// A row of one page.
std::string page(int number) { return large(number).substr(0, 3'000); }
void put_page(Tx& tx, int number) {
  tx.exec("INSERT INTO thumbnails (sha256, mime, bytes, made_us) VALUES ($1, '', $2, 0)",
          {sha256(page(number)), Param::raw(page(number))});
}
bool has_page(Statements& statements, int number) {
  auto found = statements.one("SELECT bytes FROM thumbnails WHERE sha256 = $1", {sha256(page(number))},
                              [](const Row& row) { return row.str(0); });
  return found == page(number);
}

// A statement that meets a full disk while it reads pages of its own transaction from the log is undone
// alone, and the transaction goes on: all its pages must still be there.
TEST_F(LogTest, AFullDiskWhileSpilledPagesAreReadLosesNone) {
  FailingLogWrites fault(ENOSPC);
  open({.cache_bytes = 160 << 10});
  std::vector<int> committed;
  for (int rows = 60, first = 0; rows < 100; ++rows, first += rows) {
    const auto code = code_of([&] {
      db->write(Scope::shared(), [&](Tx& tx) {
        for (int i = first; i < first + rows; ++i) put_page(tx, i);
        FailingLogWrites::failures = 1;
        code_of([&] {
          tx.attempt([&] {
            tx.exec(
                "INSERT INTO workspace_blobs (workspace, hash, refs) SELECT $2, sha256, length(bytes || 'x') "
                "FROM "
                "thumbnails WHERE sha256 = $1",
                {sha256(page(first + rows - 50)), Param::raw("w")});
          });
        });
        FailingLogWrites::failures = 0;
      });
    });
    if (!code)
      for (int i = first; i < first + rows; ++i) committed.push_back(i);
  }
  EXPECT_FALSE(committed.empty());
  db->read([&](Statements& s) {
    for (int i : committed) EXPECT_TRUE(has_page(s, i)) << i;
  });
  EXPECT_EQ(integrity_of(*db), "ok");
}

// Watches SQLite's locks on the shared index of the log: 121 is held during a checkpoint, 123 while it moves
// pages; each of 124 to 127 is held by readers, and all are taken together to restart the log.
class LockWatch {
 public:
  LockWatch() : call_("fcntl", lock) {
    checkpoints = restarts = meetings = unguarded = 0;
    is_checkpointing = false;  // an earlier one may have gone before the end of a checkpoint
    read_locks = 0;
  }

  static inline std::atomic<int> checkpoints{0}, restarts{0}, meetings{0};
  static inline std::atomic<int> unguarded{0};  // checkpoints that had moved everything while nobody read
  static inline std::atomic<bool> is_checkpointing{false};

 private:
  static int lock(int fd, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    auto* argument = va_arg(arguments, struct flock*);
    va_end(arguments);
    int result = ::fcntl(fd, command, argument);
    if (command != F_SETLK || result != 0) return result;
    if (argument->l_start == 121 && argument->l_len == 1) {
      is_checkpointing = argument->l_type == F_WRLCK;
      checkpoints += is_checkpointing;
    } else if (argument->l_start == 123 && argument->l_type == F_UNLCK) {
      unguarded += is_checkpointing && read_locks == 0;
    } else if (argument->l_start >= 124 && argument->l_start <= 127 && argument->l_len == 1) {
      const unsigned bit = 1u << (argument->l_start - 124);
      if (argument->l_type == F_RDLCK)
        read_locks |= bit;
      else
        read_locks &= ~bit;
    } else if (argument->l_start == 124 && argument->l_len == 4 && argument->l_type == F_WRLCK) {
      ++restarts;
      meetings += is_checkpointing;
    }
    return result;
  }

  static inline std::atomic<unsigned> read_locks{0};
  SystemCall call_;
};

// Pages of the log that are not in the database yet.
int pages_to_move(const std::string& path) {
  sqlite3* connection = nullptr;
  int pages = 0, moved = 0;
  EXPECT_EQ(sqlite3_open_v2(path.c_str(), &connection, SQLITE_OPEN_READWRITE, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(connection, "SELECT 1 FROM principals", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_wal_checkpoint_v2(connection, nullptr, SQLITE_CHECKPOINT_NOOP, &pages, &moved),
            SQLITE_OK);
  sqlite3_close(connection);
  return pages - moved;
}

// Stops background checkpoints just after they have read how long the log is: SQLite has a point for tests
// there. LockWatch must be active.
class CheckpointPause {
 public:
  CheckpointPause() {
    is_on = true;
    sqlite3_test_control(SQLITE_TESTCTRL_FAULT_INSTALL, pause);
  }
  ~CheckpointPause() {
    sqlite3_test_control(SQLITE_TESTCTRL_FAULT_INSTALL, nullptr);
    is_on = false;
    is_on.notify_all();
    is_inside.wait(true);
  }
  void wait_until_inside() { is_inside.wait(false); }
  // Waits as long as a checkpoint needs to begin, if one can.
  void give_time() {
    for (int i = 0; i < 20 && !is_inside; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  static int pause(int point) {
    if (point != 660 || std::this_thread::get_id() == test_thread || !LockWatch::is_checkpointing) return 0;
    is_inside = true;
    is_inside.notify_all();
    is_on.wait(true);
    is_inside = false;
    is_inside.notify_all();
    return 0;
  }
  static inline const std::thread::id test_thread = std::this_thread::get_id();
  static inline std::atomic<bool> is_on{false}, is_inside{false};
};

// Before SQLite 3.51.3, a checkpoint that met a restart could skip committed pages for ever.
TEST_F(LogTest, NoCheckpointMeetsARestartOfTheLog) {
  open({.background_pages = 1, .front_pages = INT_MAX, .move_interval = std::chrono::milliseconds(0)});
  LockWatch watch;
  int rows = 0;
  auto put = [&] { db->write(Scope::shared(), [&](Tx& tx) { put_page(tx, rows++); }); };
  for (int round = 0; round < 10; ++round) {
    {
      // Commits while a background checkpoint stands still, with pages to move.
      CheckpointPause pause;
      put();
      pause.wait_until_inside();
      for (int i = 0; i < 20; ++i) put();
    }
    // The background thread moves the rest, so that the next commit restarts the log. It stops in a
    // checkpoint before that commit, if it begins one.
    while (pages_to_move(dir.file("catalog.db")) > 0) std::this_thread::yield();
    CheckpointPause pause;
    pause.give_time();
    db->write(Scope::shared(), [&](Tx& tx) {
      put_page(tx, rows++);
      pause.give_time();
    });
  }
  EXPECT_EQ(LockWatch::meetings, 0);
  EXPECT_GE(LockWatch::restarts, 10);
  db->read([&](Statements& s) {
    for (int i = 0; i < rows; ++i) EXPECT_TRUE(has_page(s, i)) << i;
  });
  EXPECT_EQ(integrity_of(*db), "ok");
}

// Once it has moved all pages, nothing but a reader keeps a commit from restarting the log beside it.
TEST_F(LogTest, ABackgroundCheckpointEndsBesideAReader) {
  LockWatch watch;  // from the first lock on
  open({.background_pages = 1, .front_pages = INT_MAX, .move_interval = std::chrono::milliseconds(0)});
  for (int round = 0; round < 10; ++round) {
    const int before = LockWatch::checkpoints;
    db->write(Scope::shared(), [&](Tx& tx) { put_page(tx, round); });
    while (LockWatch::checkpoints == before || LockWatch::is_checkpointing) std::this_thread::yield();
  }
  EXPECT_EQ(LockWatch::unguarded, 0);
}

TEST_F(LogTest, TheLogIsRestartedWhileManyWrite) {
  constexpr int kWriters = 3, kRounds = 400;
  open({.background_pages = 20, .front_pages = 60, .move_interval = std::chrono::milliseconds(1)});
  LockWatch watch;
  std::vector<std::thread> threads;
  for (int t = 0; t < kWriters; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i)
        db->write(Scope::shared(), [&](Tx& tx) { put_page(tx, t * kRounds + i); });
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(LockWatch::meetings, 0);
  EXPECT_GT(LockWatch::restarts, 0);
  db->read([&](Statements& s) {
    for (int i = 0; i < kWriters * kRounds; ++i) EXPECT_TRUE(has_page(s, i)) << i;
  });
  EXPECT_EQ(integrity_of(*db), "ok");
}

}  // namespace
}  // namespace sk::catalog::test
