// One SQLite connection with its prepared statements. One thread at a time.
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
  // Several statements without parameters, not cached.
  void script(const std::string& sql);
  bool in_transaction() const;
  // Until it is taken back, commits are written and not synced (log_writes.h).
  void sync_lazily(bool lazy);
  // Rolls the transaction back, if one is open, and forgets what it wrote to the log. Throws Error.
  void roll_back();
  // Pages in the write-ahead log after the last commit of this connection.
  int wal_pages() const { return wal_pages_; }
  // Whether pages of the log are not in the database yet.
  bool has_pages_to_move();
  // Moves what it can from the log into the database, without waiting for anybody.
  void checkpoint();

 private:
  // SQLite numbers "$2" by where it first stands in the text, so each statement remembers which position
  // "$1", "$2", … got.
  struct Prepared {
    sqlite3_stmt* statement = nullptr;
    std::vector<int> positions;
  };
  const Prepared& prepare(Sql sql);
  void bind(const Prepared& prepared, std::initializer_list<Param> params);
  // Throws the Error that fits SQLite's code; dies where a sync failed.
  [[noreturn]] void fail(int code, const char* what);

  sqlite3* db_ = nullptr;
  int wal_pages_ = 0;
  std::unordered_map<const char*, Prepared> statements_;
};

}  // namespace sk::catalog
