#include <gtest/gtest.h>

#include <barrier>

#include "catalog/migrations.h"
#include "unit/catalog/support.h"

namespace sk::catalog::test {
namespace {

class SqliteTest : public testing::Test {
 protected:
  int64_t count() {
    return *db->read([](Statements& s) {
      return s.one("SELECT count(*) FROM principals", {}, [](const Row& row) { return row.integer(0); });
    });
  }

  void expect_large(int wanted) {
    db->read([&](Statements& s) {
      int64_t rows = *s.one("SELECT count(*) FROM blobs", {}, [](const Row& row) { return row.integer(0); });
      EXPECT_EQ(rows, wanted);
      for (int i = 0; i < wanted; ++i) EXPECT_TRUE(has_large(s, i)) << i;
    });
  }
  // Lets the database grow no further, as on a full disk.
  static void fill_disk(Tx& tx) {
    tx.query("PRAGMA max_page_count = 1", {}, [](const Row&) { return true; });
  }
  static void free_disk(Tx& tx) {
    tx.query("PRAGMA max_page_count = 1000000", {}, [](const Row&) { return true; });
  }
  uint64_t log_bytes() { return std::filesystem::file_size(dir.file("catalog.db-wal")); }

  TempDir dir;
  std::unique_ptr<Database> db = open_sqlite(dir.file("catalog.db"));
};

TEST_F(SqliteTest, AWriteIsSeenByTheNextRead) {
  db->write(Scope::shared(), [&](Tx& tx) { put_named(tx, "a"); });
  EXPECT_EQ(count(), 1);
}

TEST_F(SqliteTest, AWriteThatThrowsLeavesNothing) {
  EXPECT_THROW(db->write(Scope::shared(),
                         [&](Tx& tx) {
                           put_named(tx, "a");
                           throw Error(Code::conflict, "no");
                         }),
               Error);
  EXPECT_EQ(count(), 0);
}

TEST_F(SqliteTest, ABrokenUniqueConstraintIsAConflict) {
  db->write(Scope::shared(), [&](Tx& tx) { put_named(tx, "a"); });
  try {
    db->write(Scope::shared(), [&](Tx& tx) { put_named(tx, "a"); });
    FAIL() << "the second insert passed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::conflict);
  }
}

TEST_F(SqliteTest, OneFailingWriteOfAGroupDoesNotHarmTheOthers) {
  constexpr int kThreads = 16, kRounds = 50;
  std::barrier start(kThreads);
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      for (int i = 0; i < kRounds; ++i) {
        try {
          db->write(Scope::shared(), [&](Tx& tx) {
            put_named(tx, std::to_string(t) + "/" + std::to_string(i));
            if (i % 5 == 0) throw Error(Code::conflict, "on purpose");
          });
        } catch (const Error&) {
          ++failed;
        }
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failed, kThreads * kRounds / 5);
  EXPECT_EQ(count(), kThreads * kRounds * 4 / 5);
}

TEST_F(SqliteTest, ActionsRunAfterTheCommitAndNotAfterARollback) {
  int ran = 0;
  db->write(Scope::shared(), [&](Tx& tx) {
    tx.after_commit([&] {
      EXPECT_EQ(count(), 1);
      ++ran;
    });
    put_named(tx, "a");
  });
  EXPECT_EQ(ran, 1);
  EXPECT_THROW(db->write(Scope::shared(),
                         [&](Tx& tx) {
                           tx.after_commit([&] { ++ran; });
                           throw Error(Code::conflict, "no");
                         }),
               Error);
  EXPECT_EQ(ran, 1);
}

TEST_F(SqliteTest, AFailedAttemptIsUndoneAndTheTransactionGoesOn) {
  std::vector<std::string> ran;
  db->write(Scope::shared(), [&](Tx& tx) {
    put_named(tx, "before");
    tx.after_commit([&] { ran.push_back("before"); });
    EXPECT_EQ(code_of([&] {
                tx.attempt([&] {
                  put_named(tx, "undone");
                  tx.after_commit([&] { ran.push_back("undone"); });
                  throw Error(Code::quota_exceeded, "no");
                });
              }),
              Code::quota_exceeded);
    tx.attempt([&] {
      put_named(tx, "kept");
      tx.after_commit([&] { ran.push_back("kept"); });
    });
    put_named(tx, "after");
  });
  EXPECT_EQ(names_in(*db), (std::vector<std::string>{"after", "before", "kept"}));
  EXPECT_EQ(ran, (std::vector<std::string>{"before", "kept"}));
}

TEST_F(SqliteTest, AFailedStatementCanBeAttemptedWithoutHarm) {
  db->write(Scope::shared(), [&](Tx& tx) {
    put_named(tx, "a");
    EXPECT_EQ(code_of([&] { tx.attempt([&] { put_named(tx, "a"); }); }), Code::conflict);
    put_named(tx, "b");
  });
  EXPECT_EQ(count(), 2);
}

TEST_F(SqliteTest, AttemptsNestAndTheOuterOneUndoesTheInnerOnes) {
  db->write(Scope::shared(), [&](Tx& tx) {
    tx.attempt([&] {
      put_named(tx, "outer");
      EXPECT_THROW(tx.attempt([&] {
        put_named(tx, "inner");
        throw Error(Code::conflict, "no");
      }),
                   Error);
      tx.attempt([&] { put_named(tx, "second inner"); });
    });
    EXPECT_THROW(tx.attempt([&] {
      tx.attempt([&] { put_named(tx, "released"); });
      throw std::runtime_error("the outer attempt");
    }),
                 std::runtime_error);
  });
  EXPECT_EQ(names_in(*db), (std::vector<std::string>{"outer", "second inner"}));
}

TEST_F(SqliteTest, AWriteThatThrowsAfterAnAttemptLeavesNothing) {
  EXPECT_THROW(db->write(Scope::shared(),
                         [&](Tx& tx) {
                           tx.attempt([&] { put_named(tx, "a"); });
                           throw Error(Code::conflict, "no");
                         }),
               Error);
  EXPECT_EQ(count(), 0);
}

// SQLite rolls back the whole transaction when the disk is full. The statements of a closure that goes on
// would otherwise be committed one by one.
TEST_F(SqliteTest, AFullDiskInsideAnAttemptFailsTheWholeWriteEvenIfItIsCaught) {
  int ran = 0;
  EXPECT_EQ(code_of([&] {
              db->write(Scope::shared(), [&](Tx& tx) {
                put_named(tx, "before");
                fill_disk(tx);
                EXPECT_EQ(code_of([&] { tx.attempt([&] { put_large(tx, 0); }); }), Code::disk_full);
                EXPECT_EQ(code_of([&] { put_named(tx, "after"); }), Code::disk_full);
                EXPECT_EQ(code_of([&] { tx.attempt([&] { put_named(tx, "again"); }); }), Code::disk_full);
                tx.after_commit([&] { ++ran; });
              });
            }),
            Code::disk_full);
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(count(), 0);
  db->write(Scope::shared(), [&](Tx& tx) { free_disk(tx); });
  db->write(Scope::shared(), [&](Tx& tx) { put_large(tx, 0); });
  expect_large(1);
}

TEST_F(SqliteTest, AReadKeepsItsSnapshotWhileOthersWrite) {
  db->write(Scope::shared(), [&](Tx& tx) { put_named(tx, "a"); });
  db->read([&](Statements& s) {
    auto seen = [&] {
      return *s.one("SELECT count(*) FROM principals", {}, [](const Row& row) { return row.integer(0); });
    };
    EXPECT_EQ(seen(), 1);
    db->write(Scope::shared(), [&](Tx& tx) { put_named(tx, "b"); });
    EXPECT_EQ(seen(), 1);
  });
  EXPECT_EQ(count(), 2);
}

TEST_F(SqliteTest, NullsTextBytesAndNumbersComeBackAsTheyWere) {
  std::string raw("a\0b\xff", 4);
  db->write(Scope::shared(), [&](Tx& tx) {
    tx.exec(
        "INSERT INTO blobs (hash, size, kind, refs, location, checked_us, bytes) VALUES ($1, $2, 0, 0, $3, "
        "0, $4)",
        {sha256("x"), int64_t{1} << 60, nullptr, Param::raw(raw)});
  });
  db->read([&](Statements& s) {
    s.query("SELECT hash, size, location, bytes FROM blobs", {}, [&](const Row& row) {
      EXPECT_EQ(row.hash(0), sha256("x"));
      EXPECT_EQ(row.integer(1), int64_t{1} << 60);
      EXPECT_TRUE(row.is_null(2));
      EXPECT_EQ(row.text(3), raw);
      return true;
    });
  });
}

// PostgreSQL refuses both, and a catalog can move.
TEST_F(SqliteTest, TextThatNoEngineTakesIsRefusedAndLeavesNothing) {
  using namespace std::string_literals;
  for (const auto& text : {"a\0b"s, "\0"s, "\xff"s, "a\xc3"s, "\xed\xa0\x80"s}) {
    try {
      db->write(Scope::shared(), [&](Tx& tx) { put_named(tx, text); });
      ADD_FAILURE() << "accepted: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::bad_request);
    }
  }
  EXPECT_EQ(count(), 0);
  db->write(Scope::shared(), [&](Tx& tx) { put_named(tx, "é😀"); });
  EXPECT_EQ(count(), 1);
}

TEST_F(SqliteTest, ExistsSaysWhetherThereIsARow) {
  auto exists = [&](const std::string& name) {
    return db->read(
        [&](Statements& s) { return s.exists("SELECT 1 FROM principals WHERE name = $1", {name}); });
  };
  EXPECT_FALSE(exists("a"));
  db->write(Scope::shared(), [&](Tx& tx) { put_named(tx, "a"); });
  EXPECT_TRUE(exists("a"));
  EXPECT_FALSE(exists("b"));
}

TEST_F(SqliteTest, ParametersGoByTheirNumberNotByWhereTheyStand) {
  auto text = db->read([](Statements& s) {
    return s.one("SELECT $2 || $1 || $2", {"a", "b"}, [](const Row& row) { return row.str(0); });
  });
  EXPECT_EQ(text, "bab");
}

TEST_F(SqliteTest, ReopeningFindsWhatWasWritten) {
  db->write(Scope::shared(), [&](Tx& tx) { put_named(tx, "a"); });
  db.reset();
  db = open_sqlite(dir.file("catalog.db"));
  EXPECT_EQ(count(), 1);
}

TEST_F(SqliteTest, ACatalogOfANewerProgramIsRefused) {
  db->write(Scope::shared(),
            [&](Tx& tx) { tx.exec("INSERT INTO schema_migrations (name) VALUES ('9999_future')", {}); });
  db.reset();
  EXPECT_THROW(open_sqlite(dir.file("catalog.db")), Error);
}

TEST_F(SqliteTest, ManyWritesWithALongLogStayReadable) {
  for (int i = 0; i < 900; ++i) db->write(Scope::shared(), [&](Tx& tx) { put_large(tx, i); });
  expect_large(900);
  EXPECT_LT(log_bytes(), 64u << 20);
}

// The reader needs the log as it was, so it cannot begin anew; writers do not wait for that.
TEST_F(SqliteTest, WritersDoNotWaitForALongReadAndTheLogBeginsAnewAfterIt) {
  db->write(Scope::shared(), [&](Tx& tx) { put_named(tx, "a"); });
  db->read([&](Statements& s) {
    auto seen = [&] {
      return *s.one("SELECT count(*) FROM blobs", {}, [](const Row& row) { return row.integer(0); });
    };
    EXPECT_EQ(seen(), 0);
    for (int i = 0; i < 300; ++i) db->write(Scope::shared(), [&](Tx& tx) { put_large(tx, i); });
    EXPECT_EQ(seen(), 0);
  });
  const auto grown_bytes = log_bytes();
  EXPECT_GT(grown_bytes, 300u * 60'000);
  for (int i = 300; i < 900; ++i) db->write(Scope::shared(), [&](Tx& tx) { put_large(tx, i); });
  EXPECT_LT(log_bytes(), grown_bytes + (20u << 20));
  expect_large(900);
}

// More than the cache holds goes into the log before the commit, and is read back from there.
TEST_F(SqliteTest, AWriteLargerThanTheCacheSeesItselfAndIsRolledBackWhole) {
  db.reset();
  db = open_sqlite(dir.file("catalog.db"), {.cache_bytes = 1 << 20});
  EXPECT_THROW(db->write(Scope::shared(),
                         [&](Tx& tx) {
                           for (int i = 0; i < 200; ++i) put_large(tx, i);
                           throw Error(Code::conflict, "no");
                         }),
               Error);
  expect_large(0);
  db->write(Scope::shared(), [&](Tx& tx) {
    for (int i = 0; i < 200; ++i) put_large(tx, i);
    for (int i = 0; i < 200; ++i) EXPECT_TRUE(has_large(tx, i)) << i;
  });
  expect_large(200);
  db.reset();
  db = open_sqlite(dir.file("catalog.db"));
  expect_large(200);
}

// What a killed server leaves: the database and its log, without a last move.
TEST_F(SqliteTest, ACopyOfTheFilesAfterAWriteHoldsIt) {
  for (int i = 0; i < 20; ++i) {
    db->write(Scope::shared(), [&](Tx& tx) { put_large(tx, i); });
    TempDir other;
    for (const char* name : {"catalog.db", "catalog.db-wal"})
      std::filesystem::copy_file(dir.file(name), other.file(name));
    auto copy = open_sqlite(other.file("catalog.db"));
    EXPECT_TRUE(copy->read([&](Statements& s) { return has_large(s, i); })) << i;
  }
}

}  // namespace
}  // namespace sk::catalog::test
