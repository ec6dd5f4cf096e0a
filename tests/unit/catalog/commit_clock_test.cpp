// The catalog's time, which never goes back.
#include "catalog/commit_clock.h"

#include <gtest/gtest.h>

#include <thread>

#include "catalog/migrations.h"
#include "catalog/sqlite_connection.h"
#include "unit/catalog/support.h"

namespace sk::catalog::test {
namespace {

constexpr TimeUs kStart = 1'800'000'000 * kSecondUs;
constexpr TimeUs kHourUs = 3600 * kSecondUs;

TEST(CommitClock, FollowsItsClock) {
  ManualClock source(kStart);
  CommitClock clock(source);
  EXPECT_EQ(clock.now_us(), kStart);
  EXPECT_EQ(clock.now_us(), kStart);
  source.advance_us(5);
  EXPECT_EQ(clock.now_us(), kStart + 5);
}

TEST(CommitClock, TimePassesButDoesNotGoBackWhileTheClockIsBehind) {
  ManualClock source(kStart);
  CommitClock clock(source);
  TimeUs last_us = clock.now_us();
  source.advance_us(-kHourUs);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    TimeUs now_us = clock.now_us();
    EXPECT_GE(now_us, last_us + (i == 0 ? 0 : 500));
    last_us = now_us;
  }
  EXPECT_LT(last_us, kStart + kHourUs / 2);
  source.advance_us(2 * kHourUs);
  EXPECT_EQ(clock.now_us(), kStart + kHourUs);
}

TEST(CommitClock, IsNotBeforeATimeThatItWasTold) {
  ManualClock source(kStart);
  CommitClock clock(source);
  clock.advance_to(kStart + kHourUs);
  EXPECT_GE(clock.now_us(), kStart + kHourUs);
}

class TimeTest : public testing::Test {
 protected:
  void open() { db = open_sqlite(dir.file("catalog.db"), {.clock = &clock}); }
  static void set_head(Tx& tx, TimeUs time_us) {
    tx.exec(
        "INSERT INTO journals (workspace, seq, hash, checkpointed_seq, time_us) VALUES ($1, 1, $2, 0, $3)",
        {Id{}, Sha256{}, time_us});
  }

  TempDir dir;
  ManualClock clock{kStart};
  std::unique_ptr<Database> db;
};

TEST_F(TimeTest, ATransactionHasOneTime) {
  open();
  db->write(Scope::shared(), [&](Tx& tx) {
    EXPECT_EQ(tx.now_us(), kStart);
    EXPECT_EQ(tx.change_us(), kStart);
    clock.advance_us(7);
    EXPECT_EQ(tx.now_us(), kStart);
  });
}

TEST_F(TimeTest, AChangeIsLaterThanThoseOfEarlierCommits) {
  open();
  TimeUs first = db->write(Scope::shared(), [](Tx& tx) { return tx.tick(), tx.tick(); });
  EXPECT_EQ(first, kStart + 2);
  clock.advance_us(-kHourUs);
  db->write(Scope::shared(), [&](Tx& tx) {
    EXPECT_GE(tx.now_us(), kStart);
    EXPECT_GT(tx.tick(), first);
  });
}

TEST_F(TimeTest, ARolledBackWriteLeavesNoTime) {
  open();
  EXPECT_THROW(db->write(Scope::shared(),
                         [](Tx& tx) {
                           for (int i = 0; i < 100; ++i) tx.tick();
                           throw Error(Code::conflict, "no");
                         }),
               Error);
  EXPECT_EQ(db->write(Scope::shared(), [](Tx& tx) { return tx.tick(); }), kStart + 1);
}

TEST_F(TimeTest, AfterARestartTimeIsNotBeforeTheLastChange) {
  open();
  db->write(Scope::installation(), [](Tx& tx) { set_head(tx, kStart + 9); });
  db.reset();
  clock.advance_us(-kHourUs);
  open();
  EXPECT_GE(db->clock().now_us(), kStart + 9);
  EXPECT_GT(db->write(Scope::shared(), [](Tx& tx) { return tx.tick(); }), kStart + 9);
}

TEST_F(TimeTest, ACatalogOfBeforeGetsTheTimesOfItsJournals) {
  {
    SqliteConnection old(dir.file("catalog.db"), SqliteConnection::Mode::read_write, 1 << 20);
    old.script("CREATE TABLE schema_migrations (name TEXT PRIMARY KEY)");
    for (const auto& migration : migrations()) {
      if (std::string_view(migration.name) >= "0009") continue;
      std::string sql = migration.sql;
      for (size_t at; (at = sql.find("/*clustered*/")) != std::string::npos;)
        sql.replace(at, 13, "WITHOUT ROWID");
      old.script(sql);
      old.exec("INSERT INTO schema_migrations (name) VALUES ($1)", {migration.name});
    }
    old.exec("INSERT INTO journals (workspace, seq, hash, checkpointed_seq) VALUES ($1, 2, $2, 0)",
             {Id{}, Sha256{}});
    for (int seq : {1, 2})
      old.exec(
          "INSERT INTO journal (workspace, seq, time_us, kind, actor, facts, commitment, hash) VALUES ($1, "
          "$2, $3, 'k', $1, '{}', $4, $4)",
          {Id{}, seq, kStart + kHourUs * seq, Sha256{}});
  }
  open();
  EXPECT_GE(db->clock().now_us(), kStart + 2 * kHourUs);
}

}  // namespace
}  // namespace sk::catalog::test
