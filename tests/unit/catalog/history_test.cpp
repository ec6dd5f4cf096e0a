// Random histories: several threads write and read one catalog, with spills, rollbacks, attempts,
// checkpoints, restarts of the log and full disks, and everything is compared with a plain map. SK_SEED
// repeats a history.
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "unit/catalog/support.h"

namespace sk::catalog::test {
namespace {

struct Item {
  int64_t stamp = 0;
  std::string bytes;
  bool operator==(const Item&) const = default;
};
using Items = std::map<int, Item>;

Sha256 key_of(int item) { return sha256("item " + std::to_string(item)); }

struct Step {
  enum class Kind { put, remove, add } kind = Kind::put;
  int item = 0;
  Item value;
};

// What the catalog must hold. Commits reach it in their order, by after_commit.
class Reference {
 public:
  // The number of the commit that `steps` belong to is in their transaction's own row.
  void commit(const std::vector<Step>& steps) {
    std::lock_guard lock(mutex_);
    for (const Step& step : steps) apply(step);
    ++commits_;
    int64_t sum = 0;
    for (const auto& [item, value] : items_)
      sum += value.stamp + 7 * static_cast<int64_t>(value.bytes.size());
    sums_.push_back(sum);
  }
  Items items() const {
    std::lock_guard lock(mutex_);
    return items_;
  }
  int64_t commits() const {
    std::lock_guard lock(mutex_);
    return commits_;
  }
  // The sum over all items after a commit, which may be about to arrive.
  int64_t sum_after(int64_t commit) const {
    while (commits() < commit) std::this_thread::yield();
    std::lock_guard lock(mutex_);
    return commit == 0 ? 0 : sums_[static_cast<size_t>(commit) - 1];
  }

 private:
  void apply(const Step& step) {
    switch (step.kind) {
      case Step::Kind::put:
        items_[step.item] = step.value;
        break;
      case Step::Kind::remove:
        items_.erase(step.item);
        break;
      case Step::Kind::add:
        if (auto at = items_.find(step.item); at != items_.end()) at->second.stamp += step.value.stamp;
        break;
    }
  }

  mutable std::mutex mutex_;
  Items items_;
  int64_t commits_ = 0;
  std::vector<int64_t> sums_;
};

class History {
 public:
  void run(uint64_t seed) {
    Random random(seed);
    db_ = open_sqlite(dir_.file("catalog.db"), random_options(random));
    db_->write(Scope::shared(), [](Tx& tx) {
      tx.exec("CREATE TABLE counter (commits BIGINT NOT NULL)", {});
      tx.exec("INSERT INTO counter VALUES (0)", {});
    });
    {
      FailingLogWrites fault(pick(random, 2) == 0 ? ENOSPC : EIO);
      std::atomic<int> writers{3};
      std::vector<std::thread> threads;
      for (int t = 0; t < 3; ++t)
        threads.emplace_back([&, own = Random(random())]() mutable {
          for (int i = 0; i < 40; ++i) code_of([&] { write_randomly(own); });
          --writers;
        });
      for (int t = 0; t < 2; ++t)
        threads.emplace_back([&] {
          while (writers > 0) read_once();
        });
      for (auto& thread : threads) thread.join();
    }
    EXPECT_GT(reference_.commits(), 40);
    expect_equal(*db_, reference_.items());
    db_.reset();
    db_ = open_sqlite(dir_.file("catalog.db"));
    expect_equal(*db_, reference_.items());
  }

 private:
  static constexpr int kItems = 200;
  using Random = std::mt19937_64;
  static int pick(Random& random, int below) {
    return static_cast<int>(random() % static_cast<uint64_t>(below));
  }

  static SqliteOptions random_options(Random& random) {
    return {.group_max = static_cast<size_t>(1 + pick(random, 6)),
            .readers_max = 3,
            .cache_bytes = static_cast<uint64_t>(40 + pick(random, 300)) << 10,
            .background_pages = 1 + pick(random, 60),
            .front_pages = 20 + pick(random, 150),
            .move_interval = std::chrono::milliseconds(pick(random, 4))};
  }

  static void run_step(Tx& tx, const Step& step) {
    const Sha256 key = key_of(step.item);
    switch (step.kind) {
      case Step::Kind::put:
        tx.exec(
            "INSERT INTO thumbnails (sha256, mime, bytes, made_us) VALUES ($1, $2, $3, $4) ON CONFLICT "
            "(sha256) DO UPDATE SET bytes = excluded.bytes, made_us = excluded.made_us",
            {key, std::to_string(step.item), Param::raw(step.value.bytes), step.value.stamp});
        break;
      case Step::Kind::remove:
        tx.exec("DELETE FROM thumbnails WHERE sha256 = $1", {key});
        break;
      case Step::Kind::add:
        // With a subquery, so that it is a statement of several rows that can be undone alone.
        tx.exec(
            "UPDATE thumbnails SET made_us = made_us + $2 WHERE sha256 IN (SELECT sha256 FROM thumbnails "
            "WHERE "
            "sha256 = $1)",
            {key, step.value.stamp});
        break;
    }
  }

  static Step random_step(Random& random) {
    Step step;
    step.kind = static_cast<Step::Kind>(std::array{0, 0, 0, 1, 2}[static_cast<size_t>(pick(random, 5))]);
    step.item = pick(random, kItems);
    step.value.stamp = pick(random, 1'000'000);
    if (step.kind == Step::Kind::put)
      step.value.bytes.assign(static_cast<size_t>(pick(random, pick(random, 8) == 0 ? 40'000 : 2'000)),
                              static_cast<char>('a' + pick(random, 26)));
    return step;
  }

  static void run_steps(Tx& tx, Random& random, int count, std::vector<Step>& done) {
    for (int i = 0; i < count; ++i) {
      const Step step = random_step(random);
      run_step(tx, step);
      done.push_back(step);
    }
  }

  // Runs part of a transaction as an attempt, which mostly fails.
  static void run_attempt(Tx& tx, Random& random, int depth, std::vector<Step>& done) {
    const size_t before = done.size();
    try {
      tx.attempt([&] {
        run_steps(tx, random, 1 + pick(random, 5), done);
        if (depth < 2 && pick(random, 2) == 0) run_attempt(tx, random, depth + 1, done);
        if (pick(random, 3) > 0) throw Error(Code::quota_exceeded, "on purpose");
      });
    } catch (const Error&) {
      done.resize(before);
    }
  }

  void write_randomly(Random& random) {
    db_->write(Scope::shared(), [&](Tx& tx) {
      std::vector<Step> done;
      run_steps(tx, random, pick(random, 12) == 0 ? 60 : 1 + pick(random, 5), done);
      if (pick(random, 20) == 0) FailingLogWrites::failures = 1;
      if (pick(random, 3) == 0) run_attempt(tx, random, 0, done);
      if (pick(random, 25) == 0) check_copy();
      if (pick(random, 10) == 0) throw Error(Code::conflict, "on purpose");
      tx.exec("UPDATE counter SET commits = commits + 1", {});
      tx.after_commit([this, done = std::move(done)] { reference_.commit(done); });
    });
  }

  // What a process that is killed here leaves. Only the background thread may change the files now, and only
  // by pages that the log has as well.
  void check_copy() {
    if (images_ >= 2) return;
    ++images_;
    TempDir other(TempDir::Where::memory);
    for (const char* name : {"catalog.db", "catalog.db-wal"})
      std::filesystem::copy_file(dir_.file(name), other.file(name));
    auto copy = open_sqlite(other.file("catalog.db"));
    expect_equal(*copy, reference_.items());
  }

  // A snapshot is the state after one commit, and stays it.
  void read_once() {
    db_->read([&](Statements& s) {
      auto number = [&](catalog::Sql sql) {
        return *s.one(sql, {}, [](const Row& row) { return row.integer(0); });
      };
      const int64_t commit = number("SELECT commits FROM counter");
      const int64_t sum = number("SELECT COALESCE(sum(made_us + 7 * length(bytes)), 0) FROM thumbnails");
      EXPECT_EQ(sum, reference_.sum_after(commit)) << "after commit " << commit;
      EXPECT_EQ(number("SELECT commits FROM counter"), commit);
    });
  }

  static void expect_equal(Database& database, const Items& wanted) {
    Items found;
    database.read([&](Statements& s) {
      s.query("SELECT mime, made_us, bytes FROM thumbnails", {}, [&](const Row& row) {
        found[std::stoi(row.str(0))] = {row.integer(1), row.str(2)};
        return true;
      });
    });
    EXPECT_TRUE(found == wanted) << found.size() << " items instead of " << wanted.size();
    EXPECT_EQ(integrity_of(database), "ok");
  }

  TempDir dir_{TempDir::Where::memory};
  std::unique_ptr<Database> db_;
  Reference reference_;
  int images_ = 0;  // only the front writer
};

TEST(Histories, EveryRandomHistoryEndsAsTheReferenceSays) {
  const char* given = std::getenv("SK_SEED");
  const uint64_t first = given != nullptr ? std::stoull(given) : std::random_device{}();
  const int count = given != nullptr ? 1 : std::getenv("SK_LONG") != nullptr ? 500 : 4;
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    const uint64_t seed = first + static_cast<uint64_t>(i);
    SCOPED_TRACE("SK_SEED=" + std::to_string(seed));
    History().run(seed);
  }
  std::printf("SK_SEED from %llu on\n", static_cast<unsigned long long>(first));
}

}  // namespace
}  // namespace sk::catalog::test
