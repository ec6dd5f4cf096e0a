#include "catalog/sqlite_connection.h"

#include <sqlite3.h>

#include "base/error.h"
#include "base/text.h"
#include "catalog/log_writes.h"

namespace sk::catalog {

namespace {

// Rejects text that PostgreSQL would reject. SQLite accepts any bytes, but a catalog can be moved from one to
// the other.
void check_text(std::string_view text) {
  if (text.find('\0') != std::string_view::npos)
    throw Error(Code::bad_request, "a text may not contain the character U+0000");
  if (!is_utf8(text)) throw Error(Code::bad_request, "a text is not valid UTF-8");
}

class SqliteRow final : public Row {
 public:
  explicit SqliteRow(sqlite3_stmt* statement) : statement_(statement) {}
  bool is_null(int column) const override { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  int64_t integer(int column) const override { return sqlite3_column_int64(statement_, column); }
  std::string_view text(int column) const override {
    auto data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    return {data == nullptr ? "" : data, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
  }

 private:
  sqlite3_stmt* statement_;
};

// Resets a cached statement, however its use ends.
struct Use {
  sqlite3_stmt* statement;
  ~Use() {
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
  }
};

}  // namespace

SqliteConnection::SqliteConnection(const std::string& path, Mode mode, uint64_t cache_bytes) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
              (mode == Mode::read_write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE);
  int code = sqlite3_open_v2(path.c_str(), &db_, flags, vfs_that_gathers_log_writes());
  if (code != SQLITE_OK) {
    std::string why = db_ != nullptr ? sqlite3_errmsg(db_) : "out of memory";
    sqlite3_close(db_);
    throw Error(Code::internal, "cannot open the catalog " + path + ": " + why);
  }
  sqlite3_busy_timeout(db_, 10'000);
  try {
    script(
        "PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA "
        "wal_autocheckpoint=0; PRAGMA temp_store=MEMORY; "
        "PRAGMA trusted_schema=OFF; PRAGMA cache_size=-" +
        std::to_string(cache_bytes / 1024));
    if (mode == Mode::read_only) script("PRAGMA query_only=ON");
  } catch (...) {
    sqlite3_close(db_);
    throw;
  }
  sqlite3_wal_hook(
      db_,
      [](void* self, sqlite3* db, const char*, int pages) {
        // A commit that is still buffered would be acknowledged without being durable.
        SK_CHECK(!has_gathered_log_writes(db));
        static_cast<SqliteConnection*>(self)->wal_pages_ = pages;
        return SQLITE_OK;
      },
      this);
}

SqliteConnection::~SqliteConnection() {
  for (auto& [sql, prepared] : statements_) sqlite3_finalize(prepared.statement);
  sqlite3_close(db_);
}

void SqliteConnection::fail(int code, const char* what) {
  std::string message =
      std::string("catalog: ") + sqlite3_errmsg(db_) + " (" + std::to_string(code) + ") in: " + what;
  switch (code) {
    case SQLITE_IOERR_FSYNC:
    case SQLITE_IOERR_DIR_FSYNC:
    case SQLITE_IOERR_TRUNCATE:
      die(message + "; what the disk holds is unknown, so the server stops");
    case SQLITE_FULL:
      throw Error(Code::disk_full, "the server's disk is full");
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
      throw Error(Code::conflict, "it exists already");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      throw Error(Code::corrupt, message);
    case SQLITE_BUSY:
      throw Error(Code::unavailable, "the catalog is busy").retry_in(1);
    default:
      throw Error(Code::internal, message);
  }
}

const SqliteConnection::Prepared& SqliteConnection::prepare(Sql sql) {
  auto [at, is_new] = statements_.try_emplace(sql.text());
  Prepared& prepared = at->second;
  if (!is_new) return prepared;
  int code = sqlite3_prepare_v3(db_, sql.text(), -1, SQLITE_PREPARE_PERSISTENT, &prepared.statement, nullptr);
  if (code != SQLITE_OK) {
    statements_.erase(at);
    fail(code, sql.text());
  }
  int count = sqlite3_bind_parameter_count(prepared.statement);
  for (int i = 1; i <= count; ++i) {
    int position = sqlite3_bind_parameter_index(prepared.statement, ("$" + std::to_string(i)).c_str());
    SK_CHECK(position > 0, sql.text());
    prepared.positions.push_back(position);
  }
  return prepared;
}

void SqliteConnection::bind(const Prepared& prepared, std::initializer_list<Param> params) {
  sqlite3_stmt* statement = prepared.statement;
  SK_CHECK(prepared.positions.size() == params.size(), sqlite3_sql(statement));
  auto position = prepared.positions.begin();
  for (const Param& param : params) {
    int index = *position++;
    int code = SQLITE_OK;
    if (auto number = std::get_if<int64_t>(&param.value())) {
      code = sqlite3_bind_int64(statement, index, *number);
    } else if (auto text = std::get_if<Param::Text>(&param.value())) {
      check_text(text->text);
      code = sqlite3_bind_text64(statement, index, text->text.data() == nullptr ? "" : text->text.data(),
                                 text->text.size(), SQLITE_STATIC, SQLITE_UTF8);
    } else if (auto raw = std::get_if<Param::Raw>(&param.value())) {
      code = sqlite3_bind_blob64(statement, index, raw->bytes.data() == nullptr ? "" : raw->bytes.data(),
                                 raw->bytes.size(), SQLITE_STATIC);
    } else {
      code = sqlite3_bind_null(statement, index);
    }
    if (code != SQLITE_OK) fail(code, sqlite3_sql(statement));
  }
}

size_t SqliteConnection::query(Sql sql, std::initializer_list<Param> params,
                               const Statements::OnRow& on_row) {
  const Prepared& prepared = prepare(sql);
  Use use{prepared.statement};
  // A query inside its own callback would need a second copy of the statement. It is a bug in our code.
  SK_CHECK(sqlite3_stmt_busy(use.statement) == 0, sql.text());
  bind(prepared, params);
  SqliteRow row(use.statement);
  for (size_t count = 0;; ++count) {
    int code = sqlite3_step(use.statement);
    if (code == SQLITE_DONE) return count;
    if (code != SQLITE_ROW) fail(code, sql.text());
    if (!on_row(row)) return count + 1;
  }
}

size_t SqliteConnection::exec(Sql sql, std::initializer_list<Param> params) {
  const Prepared& prepared = prepare(sql);
  Use use{prepared.statement};
  bind(prepared, params);
  int code;
  do code = sqlite3_step(use.statement);
  while (code == SQLITE_ROW);
  if (code != SQLITE_DONE) fail(code, sql.text());
  return static_cast<size_t>(sqlite3_changes64(db_));
}

void SqliteConnection::script(const std::string& sql) {
  int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code, sql.c_str());
}

bool SqliteConnection::in_transaction() const { return sqlite3_get_autocommit(db_) == 0; }

void SqliteConnection::sync_lazily(bool lazy) { sync_log_lazily(db_, lazy); }

void SqliteConnection::roll_back() {
  if (in_transaction()) exec("ROLLBACK", {});
  drop_gathered_log_writes(db_);
}

bool SqliteConnection::has_pages_to_move() {
  int pages = 0, moved = 0;
  int code = sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_NOOP, &pages, &moved);
  if (code != SQLITE_OK) fail(code, "wal_checkpoint(NOOP)");
  return moved < pages;
}

void SqliteConnection::checkpoint() {
  int code = sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  // A reader or a full disk only delays the checkpoint; the log keeps everything.
  if (code != SQLITE_OK && code != SQLITE_BUSY && code != SQLITE_LOCKED && code != SQLITE_FULL)
    fail(code, "wal_checkpoint");
}

}  // namespace sk::catalog
