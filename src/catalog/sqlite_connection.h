// One SQLite connection with its cached prepared statements. Not thread-safe. SQLite failures throw Error; a
// failed sync ends the process.
#pragma once

#include <unordered_map>

#include "catalog/database.h"

struct sqlite3;
struct sqlite3_stmt;

namespace sk::catalog {

class SqliteConnection {
 public:
  enum class Mode { read_write, read_only };
  SqliteConnection(const std::string& path, Mode mode, uint64_t cache_bytes);
  ~SqliteConnection();
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  size_t query(Sql sql, std::initializer_list<Param> params, const Statements::OnRow& on_row);
  size_t exec(Sql sql, std::initializer_list<Param> params);
  // Runs several statements without parameters. Does not cache them.
  void script(const std::string& sql);
  bool in_transaction() const;
  // SQLite's own connection, for features that this class does not have.
  sqlite3* handle() { return db_; }
  // Turns lazy syncing on or off; while on, commits are written but not synced (log_writes.h).
  void sync_lazily(bool lazy);
  // Rolls back the transaction, if one is open, and drops its buffered log writes. Throws Error.
  void roll_back();
  // Returns the number of pages in the write-ahead log after this connection's last commit.
  int wal_pages() const { return wal_pages_; }
  // Returns whether the log has pages that are not in the database yet.
  bool has_pages_to_move();
  // Moves as many pages as possible from the log into the database, without waiting for readers or writers.
  void checkpoint();

 private:
  // SQLite numbers "$2" by its first position in the text, so each statement records the positions of "$1",
  // "$2", ….
  struct Prepared {
    sqlite3_stmt* statement = nullptr;
    std::vector<int> positions;
  };
  const Prepared& prepare(Sql sql);
  void bind(const Prepared& prepared, std::initializer_list<Param> params);
  // Throws the Error for a SQLite code. Dies when a sync failed.
  [[noreturn]] void fail(int code, const char* what);

  sqlite3* db_ = nullptr;
  int wal_pages_ = 0;
  std::unordered_map<const char*, Prepared> statements_;
};

}  // namespace sk::catalog
