// Several writes in one commit: how they fail together and alone, and what comes after.
#include <latch>
#include <thread>

#include "unit/catalog/support.h"

namespace sk::catalog::test {
namespace {

class GroupTest : public testing::Test {
 protected:
  struct Outcome {
    std::optional<Code> code;
    std::thread::id ran_on;  // the thread that ran the closure; none where it did not run
  };

  // Runs the closures as one group, in this order: they queue while a write before them runs.
  std::vector<Outcome> run_as_group(const std::vector<std::function<void(Tx&)>>& closures) {
    std::latch first_runs(1), all_queued(1);
    std::thread first([&] {
      db->write(Scope::shared(), [&](Tx&) {
        first_runs.count_down();
        all_queued.wait();
      });
    });
    first_runs.wait();
    std::vector<Outcome> outcomes(closures.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < closures.size(); ++i) {
      threads.emplace_back([&, i] {
        outcomes[i].code = code_of([&] {
          db->write(Scope::shared(), [&](Tx& tx) {
            outcomes[i].ran_on = std::this_thread::get_id();
            closures[i](tx);
          });
        });
      });
      while (db->queued_writes() < i + 2) std::this_thread::yield();
    }
    all_queued.count_down();
    first.join();
    for (auto& thread : threads) thread.join();
    return outcomes;
  }

  void expect_one_group(const std::vector<Outcome>& outcomes) {
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.ran_on, outcomes[0].ran_on);
  }

  // The database takes writes and has exactly `wanted`.
  void expect_goes_on_with(std::vector<std::string> wanted) {
    EXPECT_EQ(names_in(*db), wanted);
    db->write(Scope::shared(), [](Tx& tx) { put_named(tx, "~later"); });
    wanted.emplace_back("~later");
    EXPECT_EQ(names_in(*db), wanted);
    EXPECT_EQ(integrity_of(*db), "ok");
    db.reset();
    db = open_sqlite(dir.file("catalog.db"));
    EXPECT_EQ(names_in(*db), wanted);
  }

  static std::function<void(Tx&)> put(std::string name) {
    return [name](Tx& tx) { put_named(tx, name); };
  }

  TempDir dir;
  std::unique_ptr<Database> db = open_sqlite(dir.file("catalog.db"));
};

TEST_F(GroupTest, ACommitThatFailsGivesItsErrorToEveryMember) {
  for (int code : {ENOSPC, EIO}) {
    FailingLogWrites fault(code);
    int ran = 0;
    std::vector<std::function<void(Tx&)>> closures;
    for (int i = 0; i < 5; ++i)
      closures.emplace_back([&, i](Tx& tx) {
        put_named(tx, std::to_string(i));
        tx.after_commit([&] { ++ran; });
        if (i == 4) FailingLogWrites::failures = 1;  // the commit follows
      });
    const auto outcomes = run_as_group(closures);
    expect_one_group(outcomes);
    for (const Outcome& outcome : outcomes)
      EXPECT_EQ(outcome.code, code == ENOSPC ? Code::disk_full : Code::internal);
    EXPECT_EQ(FailingLogWrites::failures, 0);
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(names_in(*db), std::vector<std::string>{});
  }
  expect_goes_on_with({});
}

// A member that found the name of another one taken must not hear "conflict": neither of them was kept.
TEST_F(GroupTest, AMemberThatFailedAloneGetsTheErrorOfTheCommitThatFailed) {
  FailingLogWrites fault(ENOSPC);
  const auto outcomes = run_as_group({put("same"), put("same"), [](Tx& tx) {
                                        put_named(tx, "other");
                                        FailingLogWrites::failures = 1;
                                      }});
  expect_one_group(outcomes);
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.code, Code::disk_full);
  expect_goes_on_with({});
}

TEST_F(GroupTest, ATransactionThatEndsInTheMiddleFailsThoseBeforeAndAfter) {
  const auto outcomes =
      run_as_group({put("a"), put("b"),
                    [](Tx& tx) {
                      tx.query("PRAGMA max_page_count = 1", {}, [](const Row&) { return true; });
                      put_large(tx, 0);
                    },
                    put("c"), put("d")});
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.code, Code::disk_full);
  EXPECT_EQ(outcomes[4].ran_on, std::thread::id());
  db->write(Scope::shared(),
            [](Tx& tx) { tx.query("PRAGMA max_page_count = 1000000", {}, [](const Row&) { return true; }); });
  expect_goes_on_with({});
}

TEST_F(GroupTest, AMemberThatThrowsIsUndoneAlone) {
  int ran = 0;
  const auto outcomes =
      run_as_group({put("a"), put("a"),
                    [&](Tx& tx) {
                      put_named(tx, "undone");
                      tx.after_commit([&] { ran += 100; });
                      throw Error(Code::quota_exceeded, "on purpose");
                    },
                    [&](Tx& tx) {
                      put_named(tx, "b");
                      tx.after_commit([&] { ran += 1; });
                      EXPECT_EQ(code_of([&] { tx.attempt([&] { put_named(tx, "a"); }); }), Code::conflict);
                    }});
  expect_one_group(outcomes);
  EXPECT_EQ(outcomes[0].code, std::nullopt);
  EXPECT_EQ(outcomes[1].code, Code::conflict);
  EXPECT_EQ(outcomes[2].code, Code::quota_exceeded);
  EXPECT_EQ(outcomes[3].code, std::nullopt);
  EXPECT_EQ(ran, 1);
  expect_goes_on_with({"a", "b"});
}

// The commit is durable, so its writers have succeeded whatever their actions do.
TEST_F(GroupTest, AnActionThatThrowsFailsNoWriteAndStopsNoOtherAction) {
  std::vector<int> ran;
  std::vector<std::function<void(Tx&)>> closures;
  for (int i = 0; i < 3; ++i)
    closures.emplace_back([&, i](Tx& tx) {
      put_named(tx, std::to_string(i));
      tx.after_commit([&, i] { ran.push_back(i); });
      tx.after_commit([i] {
        if (i == 0) throw Error(Code::internal, "on purpose");
        if (i == 1) throw 1;
      });
      tx.after_commit([&, i] { ran.push_back(10 + i); });
    });
  for (const Outcome& outcome : run_as_group(closures)) EXPECT_EQ(outcome.code, std::nullopt);
  EXPECT_EQ(ran, (std::vector<int>{0, 10, 1, 11, 2, 12}));
  expect_goes_on_with({"0", "1", "2"});
}

}  // namespace
}  // namespace sk::catalog::test
