// The catalog's database: typed access to one SQL store. SQL is written once, with $1 parameters, for SQLite
// and PostgreSQL; what only one engine knows stays in its driver.
//
// Writes are closures. They are queued, run in order and committed in groups, so that many small writes share
// one fsync; each is rolled back alone when it throws. Reads run beside them on a consistent snapshot.
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

#include "base/hash.h"
#include "base/id.h"

namespace sk::catalog {

// A bound parameter. Text and bytes are borrowed until the statement has run.
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

// A statement's text. Only a literal can make one: prepared statements are cached by its address, and no text
// that came from outside can become SQL.
class Sql {
 public:
  // Reads the characters, which must be constants, too: the address of a buffer does not compile.
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

// Statements inside one transaction or snapshot. Not to be kept beyond the closure that received it.
class Statements {
 public:
  virtual ~Statements() = default;
  using OnRow = std::function<bool(const Row&)>;  // false stops

  // Runs a query, calls `on_row` for each row; the number of rows seen.
  virtual size_t query(Sql sql, std::initializer_list<Param> params, const OnRow& on_row) = 0;

  // The first row through `take`, or nullopt when there is none.
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

  // Whether the query has a row.
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
  // Runs a statement; the number of rows changed. A broken UNIQUE constraint throws Error(conflict).
  virtual size_t exec(Sql sql, std::initializer_list<Param> params) = 0;
  // Runs `part` behind a savepoint. When it throws, its statements and its after_commit actions are undone
  // and the exception is rethrown; the transaction stays usable. Attempts nest. Where SQLite had to roll back
  // the whole transaction (full disk, I/O error), every later statement throws that error again, and the
  // write fails even if the closure catches it.
  virtual void attempt(const std::function<void()>& part) = 0;
  // Runs after the commit is durable, in order, on the committing thread; must be short. The write has
  // succeeded by then, so that what it throws is only logged. Dropped on rollback.
  virtual void after_commit(std::function<void()> action) = 0;
};

// The failure that a write survives once write() has returned. A write with `kill` is in the log but not
// synced: a power cut may take it until a later write is synced.
enum class Survives { power_cut, kill };

// Any thread. Write closures must not call the database again.
class Database {
 public:
  virtual ~Database() = default;

  // Runs `f(Tx&)` and returns its result once it is durable. What f throws is thrown here, and nothing of f
  // is kept.
  template <class F>
  auto write(F f, Survives survives = Survives::power_cut) -> decltype(f(std::declval<Tx&>())) {
    using Result = decltype(f(std::declval<Tx&>()));
    if constexpr (std::is_void_v<Result>) {
      run_write([&](Tx& tx) { f(tx); }, survives);
    } else {
      std::optional<Result> result;
      run_write([&](Tx& tx) { result.emplace(f(tx)); }, survives);
      return std::move(*result);
    }
  }

  // Runs `f(Statements&)` on a snapshot that later commits do not change.
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

  // Writes that run or wait for their turn.
  virtual size_t queued_writes() const = 0;

 protected:
  virtual void run_write(const std::function<void(Tx&)>& closure, Survives survives) = 0;
  virtual void run_read(const std::function<void(Statements&)>& closure) = 0;
};

struct SqliteOptions {
  size_t group_max = 128;  // writes per commit
  size_t readers_max = 8;  // connections kept for reads
  uint64_t cache_bytes = 64 << 20;
  // When the pages of the write-ahead log are moved into the database: by the background thread whenever the
  // log has grown by `background_pages` and every `move_interval`, by the front writer from `front_pages` on.
  int background_pages = 1'500;
  int front_pages = 4'000;
  std::chrono::milliseconds move_interval{60'000};
};

// Opens or creates the SQLite file, in WAL mode with synchronous=FULL, and applies the migrations. Throws
// Error when the file is of a newer version or not a catalog.
std::unique_ptr<Database> open_sqlite(const std::string& path, SqliteOptions options = {});

}  // namespace sk::catalog
