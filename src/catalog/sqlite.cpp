// The embedded catalog: SQLite in WAL mode. Writers queue. The oldest one runs a whole group in one
// transaction and commits it with one fsync, while the others wait. Readers have their own connections.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "base/fair_queue.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/on_behalf.h"
#include "catalog/commit_clock.h"
#include "catalog/database.h"
#include "catalog/migrations.h"
#include "catalog/read_turns.h"
#include "catalog/scope_check.h"
#include "catalog/sqlite_connection.h"
#include "catalog/write_queue.h"

namespace sk::catalog {

namespace {

class SqliteStatements final : public Statements {
 public:
  explicit SqliteStatements(SqliteConnection& connection) : connection_(connection) {}
  size_t query(Sql sql, std::initializer_list<Param> params, const OnRow& on_row) override {
    return connection_.query(sql, params, on_row);
  }

 private:
  SqliteConnection& connection_;
};

// Statements of one write. SQLite ends a transaction by itself when the disk is full or fails. Later
// statements would run outside any transaction, so each of them rethrows the error that ended it.
class SqliteTx final : public Tx {
 public:
  SqliteTx(SqliteConnection& connection, TimeUs now_us, TimeUs change_us)
      : Tx(now_us, change_us), connection_(connection) {}
  size_t query(Sql sql, std::initializer_list<Param> params, const OnRow& on_row) override {
    return guard([&] { return connection_.query(sql, params, on_row); });
  }
  size_t exec(Sql sql, std::initializer_list<Param> params) override {
    return guard([&] { return connection_.exec(sql, params); });
  }
  void attempt(const std::function<void()>& part) override {
    control("SAVEPOINT attempt");
    const size_t actions_before = actions_.size();
    try {
      part();
    } catch (...) {
      check_open();
      actions_.resize(actions_before);
      control("ROLLBACK TO attempt");
      control("RELEASE attempt");
      throw;
    }
    control("RELEASE attempt");
  }
  void after_commit(std::function<void()> action) override { actions_.push_back(std::move(action)); }
  std::vector<std::function<void()>> take_actions() { return std::move(actions_); }
  // Rethrows the error that ended the transaction, if any.
  void check_open() const {
    if (ended_by_) std::rethrow_exception(ended_by_);
  }

 private:
  template <class F>
  size_t guard(F statement) {
    check_open();
    try {
      return statement();
    } catch (...) {
      if (!connection_.in_transaction()) ended_by_ = std::current_exception();
      throw;
    }
  }

  // Runs a savepoint statement. If it fails, the transaction may contain half of an attempt and must not
  // continue.
  void control(Sql sql) {
    check_open();
    try {
      connection_.exec(sql, {});
    } catch (...) {
      ended_by_ = std::current_exception();
      throw;
    }
  }

  SqliteConnection& connection_;
  std::vector<std::function<void()>> actions_;
  std::exception_ptr ended_by_;
};

// A group ends after this time, so that the writes of others get their turn.
constexpr std::chrono::milliseconds kGroupTimeMax{20};

struct PendingWrite : WriteQueue::Write {
  PendingWrite(const Scope& its_scope, const std::function<void(Tx&)>& its_closure, Survives its_survives)
      : Write{.tenant = its_scope.tenant()},
        scope(&its_scope),
        closure(&its_closure),
        survives(its_survives) {}

  const Scope* scope;
  const std::function<void(Tx&)>* closure;
  Survives survives;
  std::exception_ptr error;
  std::vector<std::function<void()>> actions;
  ConditionVariable wake;
};

struct PendingRead : ReadTurns::Wait {
  ConditionVariable wake;
};

class SqliteDatabase final : public Database {
 public:
  SqliteDatabase(std::string path, SqliteOptions options)
      : path_(std::move(path)),
        options_(options),
        clock_(options.clock == nullptr ? system_clock_ : *options.clock),
        writer_(path_, SqliteConnection::Mode::read_write, options.cache_bytes),
        mover_(path_, SqliteConnection::Mode::read_write, 1 << 20),
        holder_(path_, SqliteConnection::Mode::read_only, 1 << 20),
        read_turns_(options.readers_max) {
    // Make the names of the catalog and its log durable before acknowledging anything. SQLite syncs the
    // folder too, but ignores errors.
    fsync_directory(std::filesystem::path(path_).parent_path().string());
    migrate();
    writer_.query("SELECT MAX(time_us) FROM journals", {}, [&](const Row& row) {
      last_change_us_ = row.integer(0);
      // Ids are ordered by their millisecond: those of this start come after all earlier ones.
      clock_.advance_to((last_change_us_ / 1000 + 1) * 1000);
      return false;
    });
    if (options_.strict_writes) scope_check_ = std::make_unique<ScopeCheck>(writer_);
    mover_thread_ = std::thread([this] { run_mover(); });
  }

  ~SqliteDatabase() override {
    {
      MutexLock lock(mover_mutex_);
      stopping_ = true;
    }
    mover_wake_.notify_all();
    mover_thread_.join();
  }

  const Clock& clock() const override { return clock_; }

  size_t queued_writes() const override {
    MutexLock lock(queue_mutex_);
    return queue_.size();
  }

 protected:
  bool commits_shared_rows_first() const override { return options_.strict_writes; }

  void run_write(const Scope& scope, const std::function<void(Tx&)>& closure, Survives survives) override {
    // One thread at a time computes for all; the others wait for it and for the disk.
    FairPool::Pause pause;
    PendingWrite mine(scope, closure, survives);
    MutexLock lock(queue_mutex_);
    queue_.push(mine);
    mine.wake.wait(lock, [&]() SK_REQUIRES(queue_mutex_) { return mine.done || queue_.oldest() == &mine; });
    bool leads = !mine.done;
    // A group need not contain the oldest write, whose thread then runs another one.
    while (!mine.done) {
      std::vector<PendingWrite*> group;
      for (WriteQueue::Write* write : queue_.next(options_.group_max))
        group.push_back(static_cast<PendingWrite*>(write));
      lock.unlock();
      run_group(group);
      lock.lock();
      for (PendingWrite* write : group) write->done = true;
      queue_.remove_done();
      for (PendingWrite* write : group)
        if (write != &mine) write->wake.notify_one();
    }
    auto* oldest = static_cast<PendingWrite*>(queue_.oldest());
    if (leads && oldest != nullptr) oldest->wake.notify_one();
    lock.unlock();
    if (mine.error) std::rethrow_exception(mine.error);
  }

  void run_read(const std::function<void(Statements&)>& closure) override {
    if (options_.strict_writes && is_reading_)
      throw Error(Code::internal, "bug: a read inside of a read waits for a reader while it holds one");
    ReadMark mark;
    Reader reader(*this);
    SqliteStatements statements(reader.get());
    reader.get().exec("BEGIN", {});
    try {
      closure(statements);
    } catch (...) {
      reader.get().exec("ROLLBACK", {});
      throw;
    }
    reader.get().exec("COMMIT", {});
  }

 private:
  // Borrows a read connection for one closure, in the turn of the thread's tenant.
  class Reader {
   public:
    explicit Reader(SqliteDatabase& database) : database_(database), tenant_(OnBehalfOf::tenant()) {
      MutexLock lock(database.readers_mutex_);
      if (!database.read_turns_.take(tenant_)) database.await_reader(tenant_, lock);
      if (!database.idle_readers_.empty()) {
        connection_ = std::move(database.idle_readers_.back());
        database.idle_readers_.pop_back();
        return;
      }
      lock.unlock();
      try {
        connection_ = std::make_unique<SqliteConnection>(database.path_, SqliteConnection::Mode::read_only,
                                                         database.options_.cache_bytes / 4);
      } catch (...) {
        lock.lock();
        database.end_read_locked(tenant_);
        throw;
      }
    }
    ~Reader() {
      MutexLock lock(database_.readers_mutex_);
      database_.idle_readers_.push_back(std::move(connection_));
      database_.end_read_locked(tenant_);
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    SqliteConnection& get() { return *connection_; }

   private:
    SqliteDatabase& database_;
    const Id tenant_;
    std::unique_ptr<SqliteConnection> connection_;
  };

  void await_reader(const Id& tenant, MutexLock& lock) SK_REQUIRES(readers_mutex_) {
    PendingRead mine;
    mine.tenant = tenant;
    read_turns_.push(mine);
    mine.wake.wait(lock, [&]() SK_REQUIRES(readers_mutex_) { return mine.has_reader; });
  }

  // Marks the thread while it reads.
  struct ReadMark {
    ReadMark() { is_reading_ = true; }
    ~ReadMark() { is_reading_ = false; }
  };

  // Notifies under the mutex, because the waiting thread owns what is notified.
  void end_read_locked(const Id& tenant) SK_REQUIRES(readers_mutex_) {
    if (auto* next = static_cast<PendingRead*>(read_turns_.give_back(tenant))) next->wake.notify_one();
  }

  void migrate() {
    writer_.script("CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT PRIMARY KEY)");
    auto known = migrations();
    std::vector<std::string> applied;
    writer_.query("SELECT name FROM schema_migrations ORDER BY name", {}, [&](const Row& row) {
      applied.push_back(row.str(0));
      return true;
    });
    for (size_t i = 0; i < applied.size(); ++i)
      if (i >= known.size() || applied[i] != known[i].name)
        throw Error(
            Code::conflict,
            "the catalog " + path_ + " was written by a newer Sandkeep (it has migration " + applied[i] + ")")
            .advise(Advice::start_newer_program);
    for (size_t i = applied.size(); i < known.size(); ++i) {
      std::string sql = known[i].sql;
      for (size_t at; (at = sql.find("/*clustered*/")) != std::string::npos;)
        sql.replace(at, 13, "WITHOUT ROWID");
      writer_.script("BEGIN IMMEDIATE");
      writer_.script(sql);
      writer_.exec("INSERT INTO schema_migrations (name) VALUES ($1)", {known[i].name});
      writer_.script("COMMIT");
    }
  }

  // Runs on the front writer's thread, exclusively. Sets each write's error and time and runs the actions of
  // the committed ones. Removes from the group the writes for which there was no time.
  void run_group(std::vector<PendingWrite*>& group) {
    MutexLock turn(writer_mutex_);
    auto began = std::chrono::steady_clock::now();
    try {
      writer_.exec("BEGIN IMMEDIATE", {});
      if (group.size() == 1) {
        // A single write needs no savepoint: it is the whole transaction.
        SqliteTx tx = begin_tx();
        run_closure(*group[0], tx);
        tx.check_open();
        last_change_us_ = tx.change_us();
        group[0]->actions = tx.take_actions();
      } else {
        run_in_time(group, began);
      }
      bool lazy = std::ranges::all_of(group, [](auto* one) { return one->survives == Survives::kill; });
      commit(lazy);
    } catch (const Error& error) {
      // Each member gets its own copy: its thread may read the error while another thread destroys its own.
      return fail(group, [&] { return std::make_exception_ptr(error); });
    } catch (...) {
      return fail(group, [] { return std::current_exception(); });
    }
    for (PendingWrite* write : group)
      for (auto& action : write->actions) run_action(action);
    move_pages();
    // The time of the whole group, such as that of its commit, is divided among its writes.
    auto together = std::chrono::steady_clock::now() - began;
    for (PendingWrite* write : group) together -= write->took;
    for (PendingWrite* write : group) write->took += together / group.size();
  }

  void run_in_time(std::vector<PendingWrite*>& group, std::chrono::steady_clock::time_point began) {
    auto before = began;
    for (size_t i = 0; i < group.size(); ++i) {
      run_one(*group[i]);
      auto now = std::chrono::steady_clock::now();
      group[i]->took = now - before;
      before = now;
      if (now - began >= kGroupTimeMax) group.resize(i + 1);
    }
  }

  void commit(bool lazy) {
    if (!lazy) {
      writer_.exec("COMMIT", {});
      return;
    }
    std::shared_ptr<void> strict(nullptr, [this](void*) { writer_.sync_lazily(false); });
    writer_.sync_lazily(true);
    writer_.exec("COMMIT", {});
  }

  // The write is durable and has succeeded, whatever its action does.
  static void run_action(const std::function<void()>& action) {
    try {
      action();
    } catch (const std::exception& error) {
      log::error("an action after a commit failed", {{"error", error.what()}});
    } catch (...) {
      log::error("an action after a commit failed", {{"error", "not an exception"}});
    }
  }

  // If this fails, the transaction stays open. The next write then fails and reports the reason.
  void roll_back() {
    try {
      writer_.roll_back();
    } catch (const Error& error) {
      log::error("catalog rollback failed", {{"error", error.message()}});
    }
  }

  // Checkpoints and restarts of the log must never overlap. A restart is the first write of a transaction
  // that began when all pages were moved. Therefore:
  // - The front writer checkpoints between transactions, while no other checkpoint runs.
  // - The background thread checkpoints while holder_ has a read transaction that began when there were pages
  //   left to move. SQLite does not restart a log that a reader needs.
  //
  // Whenever the log has grown by `background_pages`, the background thread moves pages while writers
  // continue. From `front_pages` on, the front writer moves the rest, so the next commit can restart the log.
  // While a reader still needs the log, it keeps growing, and the front writer retries later. A short log is
  // fast: its disk blocks are already allocated, and its pages are in the processor's caches.
  //
  // Called by the front writer after a commit.
  void move_pages() SK_REQUIRES(writer_mutex_) {
    int pages = writer_.wal_pages();
    if (pages < moved_at_pages_) moved_at_pages_ = 0;  // the log was restarted
    if (pages < moved_at_pages_ + options_.background_pages) return;
    if (is_moving_) return;  // retried after the next commit
    moved_at_pages_ = pages;
    if (pages >= options_.front_pages)
      checkpoint(writer_);
    else if (begin_move())
      wake_mover();
  }

  // Starts a background checkpoint. Returns false when there is nothing to move. No checkpoint may be
  // running, so neither the log nor its moved part can change.
  bool begin_move() SK_REQUIRES(writer_mutex_) {
    try {
      if (!holder_.has_pages_to_move()) return false;
      holder_.exec("BEGIN", {});
      holder_.query("SELECT name FROM schema_migrations LIMIT 1", {}, [](const Row&) { return false; });
    } catch (const Error& error) {
      end_move();
      log::warn("catalog checkpoint failed", {{"error", error.message()}});
      return false;
    }
    is_moving_ = true;
    return true;
  }

  // Called after the checkpoint has returned.
  void end_move() {
    try {
      holder_.roll_back();
    } catch (const Error& error) {
      log::warn("catalog checkpoint failed", {{"error", error.message()}});
    }
    is_moving_ = false;
  }

  // Committed pages that cannot be moved stay in the log; the preceding writes have not failed.
  static void checkpoint(SqliteConnection& connection) {
    try {
      connection.checkpoint();
    } catch (const Error& error) {
      log::warn("catalog checkpoint failed", {{"error", error.message()}});
    }
  }

  // The whole transaction is lost (disk full, I/O error). Nothing of it was acknowledged, so every member
  // fails. Members that had already failed are included: their error may refer to a row that is gone.
  void fail(const std::vector<PendingWrite*>& group, const std::function<std::exception_ptr()>& error) {
    for (PendingWrite* write : group) {
      write->error = error();
      write->actions.clear();
    }
    roll_back();
  }

  void run_one(PendingWrite& write) {
    SqliteTx tx = begin_tx();
    try {
      tx.attempt([&] { run_closure(write, tx); });
    } catch (...) {
      tx.check_open();
      write.error = std::current_exception();
      return;
    }
    last_change_us_ = tx.change_us();
    write.actions = tx.take_actions();
  }

  SqliteTx begin_tx() {
    TimeUs now_us = clock_.now_us();
    return {writer_, now_us, std::max(now_us, last_change_us_)};
  }

  void run_closure(const PendingWrite& write, SqliteTx& tx) {
    if (!scope_check_) return (*write.closure)(tx);
    bool has_failed = rehearse(write, tx);
    scope_check_->begin(*write.scope);
    (*write.closure)(tx);
    scope_check_->end();
    if (has_failed) throw Error(Code::internal, "bug: a write failed, and succeeded when it was run again");
  }

  // Runs a closure and rolls it back. Returns whether it failed.
  bool rehearse(const PendingWrite& write, const SqliteTx& like) {
    struct Rehearsed {};
    SqliteTx tx(writer_, like.now_us(), like.change_us());
    try {
      tx.attempt([&] {
        (*write.closure)(tx);
        throw Rehearsed{};
      });
    } catch (const Rehearsed&) {
    } catch (...) {
      tx.check_open();
      return true;
    }
    return false;
  }

  void wake_mover() {
    {
      MutexLock lock(mover_mutex_);
      is_mover_wanted_ = true;
    }
    mover_wake_.notify_one();
  }

  void run_mover() {
    MutexLock lock(mover_mutex_);
    while (!stopping_) {
      mover_wake_.wait_for(lock, options_.move_interval,
                           [&]() SK_REQUIRES(mover_mutex_) { return stopping_ || is_mover_wanted_; });
      is_mover_wanted_ = false;
      lock.unlock();
      // The interval has passed. If a writer is active, it maintains the log itself.
      if (!is_moving_ && writer_mutex_.try_lock()) {
        MutexLock turn(writer_mutex_, std::adopt_lock);
        if (!is_moving_) begin_move();
      }
      if (is_moving_) {
        checkpoint(mover_);
        end_move();
      }
      lock.lock();
    }
  }

  const std::string path_;
  const SqliteOptions options_;
  const SystemClock system_clock_;
  const CommitClock clock_;
  Mutex writer_mutex_;                       // held by the front writer during its turn
  SqliteConnection writer_;                  // front writer only
  TimeUs last_change_us_ = 0;                // of all changes that were committed; front writer only
  std::unique_ptr<ScopeCheck> scope_check_;  // front writer only; null unless writes are strict
  SqliteConnection mover_;                   // background thread only
  SqliteConnection holder_;  // background thread while is_moving_; otherwise the holder of writer_mutex_
  int moved_at_pages_ = 0;   // length of the log when moving was last attempted; front writer only
  // A background checkpoint runs or is about to. Set under writer_mutex_, cleared by the background thread.
  std::atomic<bool> is_moving_{false};

  mutable Mutex queue_mutex_;
  WriteQueue queue_ SK_GUARDED_BY(queue_mutex_);  // the oldest write's thread runs the groups

  Mutex readers_mutex_;
  ReadTurns read_turns_ SK_GUARDED_BY(readers_mutex_);
  std::vector<std::unique_ptr<SqliteConnection>> idle_readers_ SK_GUARDED_BY(readers_mutex_);
  static inline thread_local bool is_reading_ = false;  // for strict_writes

  Mutex mover_mutex_;
  ConditionVariable mover_wake_;
  bool is_mover_wanted_ SK_GUARDED_BY(mover_mutex_) = false;
  bool stopping_ SK_GUARDED_BY(mover_mutex_) = false;
  std::thread mover_thread_;
};

}  // namespace

std::unique_ptr<Database> open_sqlite(const std::string& path, SqliteOptions options) {
  return std::make_unique<SqliteDatabase>(path, options);
}

}  // namespace sk::catalog
