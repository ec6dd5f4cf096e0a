// Typed access to the catalog's SQL database. SQL is written once, with $1 parameters, for SQLite and
// PostgreSQL. Engine-specific code stays in its driver.
//
// Writes are closures. They are queued, run in order and committed in groups, so many small writes share one
// fsync. A write that throws is rolled back alone. Reads run concurrently on a consistent snapshot.
//
// A write names its scope (scope.h), whose heads are locked first. Its closure may run more than once: an
// engine runs it again after a conflict or a lost connection. So it has no effects but its statements, its
// result and its after_commit() actions. A variable outside of the closure may only be assigned, never added
// to or moved from. SqliteOptions::strict_writes runs every closure twice.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/id.h"
#include "catalog/scope.h"

namespace sk::catalog {

// A bound parameter. Text and bytes are borrowed and must stay valid until the statement has run.
class Param {
 public:
  struct Null {};
  struct Text {
    std::string_view text;
  };
  struct Raw {
    std::string_view bytes;
  };

  Param(std::nullptr_t) : value_(Null{}) {}
  template <std::integral T>
  Param(T value) : value_(static_cast<int64_t>(value)) {}
  Param(std::string_view text) : value_(Text{text}) {}
  Param(const std::string& text) : value_(Text{text}) {}
  Param(const char* text) : value_(Text{text}) {}
  Param(const Id& id) : value_(Raw{as_text(id.bytes)}) {}
  Param(const Sha256& hash) : value_(Raw{as_text(hash.bytes)}) {}
  template <class T>
  Param(const std::optional<T>& value) : value_(Null{}) {
    if (value) value_ = Param(*value).value_;
  }
  static Param raw(std::string_view bytes) {
    Param param(nullptr);
    param.value_ = Raw{bytes};
    return param;
  }

  const std::variant<Null, int64_t, Text, Raw>& value() const { return value_; }

 private:
  std::variant<Null, int64_t, Text, Raw> value_;
};

// Text of a statement. Only a string literal converts to it: prepared statements are cached by its address,
// and no external text can become SQL.
class Sql {
 public:
  // Reads the characters, so they must be constants too: the address of a buffer does not compile.
  consteval Sql(const char* literal) : text_(literal) {
    for (const char* at = literal; *at != '\0'; ++at) {
    }
  }
  constexpr const char* text() const { return text_; }

 private:
  const char* text_;
};

// The current row of a query. Views are valid until the next step.
class Row {
 public:
  virtual ~Row() = default;
  virtual bool is_null(int column) const = 0;
  virtual int64_t integer(int column) const = 0;
  virtual std::string_view text(int column) const = 0;  // text or bytes

  std::string str(int column) const { return std::string(text(column)); }
  Id id(int column) const { return is_null(column) ? Id{} : Id::from_raw(text(column)); }
  Sha256 hash(int column) const { return Sha256::from_raw(text(column)); }
  std::optional<int64_t> maybe_integer(int column) const {
    return is_null(column) ? std::nullopt : std::optional(integer(column));
  }
  std::optional<std::string> maybe_str(int column) const {
    return is_null(column) ? std::nullopt : std::optional(str(column));
  }
};

// Statements inside one transaction or snapshot. Do not use it after the closure that received it returns.
class Statements {
 public:
  virtual ~Statements() = default;
  using OnRow = std::function<bool(const Row&)>;  // false stops the query

  // Runs a query and calls `on_row` for each row. Returns the number of rows visited.
  virtual size_t query(Sql sql, std::initializer_list<Param> params, const OnRow& on_row) = 0;

  // Returns `take` of the first row, or nullopt when there is none.
  template <class F>
  auto one(Sql sql, std::initializer_list<Param> params, F take)
      -> std::optional<decltype(take(std::declval<const Row&>()))> {
    std::optional<decltype(take(std::declval<const Row&>()))> result;
    query(sql, params, [&](const Row& row) {
      result.emplace(take(row));
      return false;
    });
    return result;
  }

  // Returns whether the query has a row.
  bool exists(Sql sql, std::initializer_list<Param> params) {
    return query(sql, params, [](const Row&) { return false; }) > 0;
  }

  template <class F>
  auto all(Sql sql, std::initializer_list<Param> params, F take)
      -> std::vector<decltype(take(std::declval<const Row&>()))> {
    std::vector<decltype(take(std::declval<const Row&>()))> result;
    query(sql, params, [&](const Row& row) {
      result.push_back(take(row));
      return true;
    });
    return result;
  }
};

class Tx : public Statements {
 public:
  // Runs a statement. Returns the number of rows changed. A violated UNIQUE constraint throws
  // Error(conflict).
  virtual size_t exec(Sql sql, std::initializer_list<Param> params) = 0;
  // Runs `part` inside a savepoint. If it throws, its statements and its after_commit actions are rolled back
  // and the exception is rethrown. The transaction stays usable. Attempts nest. If SQLite had to roll back
  // the whole transaction (full disk, I/O error), every later statement throws that error again. The write
  // then fails even if the closure catches it.
  virtual void attempt(const std::function<void()>& part) = 0;
  // Registers an action that runs on the committing thread after the commit is durable. Actions run in order
  // and must be short. The write has already succeeded, so exceptions are only logged. Dropped on rollback.
  virtual void after_commit(std::function<void()> action) = 0;

  // The transaction's time, from the catalog's clock. It stays the same, also when the closure runs again on
  // SQLite, and is not before the time of an earlier commit.
  TimeUs now_us() const { return now_us_; }
  // The time of the current change: not before now_us(), and after every change of earlier commits.
  TimeUs change_us() const { return change_us_; }
  // Begins another change, with a time of its own. Returns it.
  TimeUs tick() { return ++change_us_; }

 protected:
  Tx(TimeUs now_us, TimeUs change_us) : now_us_(now_us), change_us_(change_us) {}

 private:
  const TimeUs now_us_;
  TimeUs change_us_;
};

// Failures that a write survives once write() has returned. A `kill` write is in the log but not synced. A
// power cut may lose it until a later write is synced.
enum class Survives { power_cut, kill };

// Thread-safe. Closures must not call the database again.
class Database {
 public:
  virtual ~Database() = default;

  // Runs `f(Tx&)`, which may change the rows of `scope` and may run more than once. Returns its result once
  // it is durable. If f throws, rolls back and rethrows.
  template <class F>
  auto write(const Scope& scope, F f, Survives survives = Survives::power_cut)
      -> decltype(f(std::declval<Tx&>())) {
    using Result = decltype(f(std::declval<Tx&>()));
    if constexpr (std::is_void_v<Result>) {
      run_write(scope, [&](Tx& tx) { f(tx); }, survives);
    } else {
      std::optional<Result> result;
      run_write(scope, [&](Tx& tx) { result.emplace(f(tx)); }, survives);
      return std::move(*result);
    }
  }

  // Like write(). `before` inserts shared rows that `f` refers to, such as blobs. An engine on which writers
  // run side by side commits them before it locks the scope: two workspaces then never wait for each other's
  // rows, and large rows are written before the lock. The rows stay if `f` fails. SQLite has one writer and
  // leaves `before` out, except with strict_writes, so `f` inserts what is missing.
  using Before = std::function<void(Tx&)>;
  template <class F>
  auto write_after(const Before& before, const Scope& scope, F f) -> decltype(f(std::declval<Tx&>())) {
    if (commits_shared_rows_first()) write(Scope::shared(), before);
    return write(scope, std::move(f));
  }

  // Runs `f(Statements&)` on a snapshot that later commits do not change. Returns its result and rethrows its
  // exceptions. Waits for a reader in the turn of the thread's tenant (base/on_behalf.h). `f` must not read
  // again: it would wait for a second reader while it holds the first.
  template <class F>
  auto read(F f) -> decltype(f(std::declval<Statements&>())) {
    using Result = decltype(f(std::declval<Statements&>()));
    if constexpr (std::is_void_v<Result>) {
      run_read([&](Statements& s) { f(s); });
    } else {
      std::optional<Result> result;
      run_read([&](Statements& s) { result.emplace(f(s)); });
      return std::move(*result);
    }
  }

  // The catalog's time, for reads and for work before a write. It never goes back, also across restarts.
  virtual const Clock& clock() const = 0;

  // Returns the number of running and waiting writes.
  virtual size_t queued_writes() const = 0;

 protected:
  virtual bool commits_shared_rows_first() const = 0;
  virtual void run_write(const Scope& scope, const std::function<void(Tx&)>& closure, Survives survives) = 0;
  virtual void run_read(const std::function<void(Statements&)>& closure) = 0;
};

struct SqliteOptions {
  size_t group_max = 128;  // maximum writes per commit
  size_t readers_max = 8;  // connections for reads; one tenant holds at most all but two, or half
  uint64_t cache_bytes = 64 << 20;
  // Thresholds for moving pages from the write-ahead log into the database. The background thread moves them
  // whenever the log has grown by `background_pages`, and every `move_interval`. The front writer moves them
  // from `front_pages` on.
  int background_pages = 1'500;
  int front_pages = 4'000;
  std::chrono::milliseconds move_interval{60'000};
  // For tests: acts as an engine with several writers may. Runs every write's closure, rolls it back and runs
  // it again. Commits the shared rows of write_after() first. Fails a write that changes rows outside of its
  // scope, and a read inside of a read, with Error(internal).
  bool strict_writes = false;
  const Clock* clock = nullptr;  // outlives the database; null: the system's
};

// Opens or creates the SQLite file, in WAL mode with synchronous=FULL, and applies the migrations. Throws
// Error when the file has a newer version or is not a catalog.
std::unique_ptr<Database> open_sqlite(const std::string& path, SqliteOptions options = {});

}  // namespace sk::catalog
