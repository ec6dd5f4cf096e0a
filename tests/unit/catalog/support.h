// What the catalog's tests share: rows to write, and system calls of SQLite's VFS that fail or are watched.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/hash.h"
#include "catalog/database.h"
#include "unit/temp_dir.h"

namespace sk::catalog::test {

template <class F>
std::optional<Code> code_of(F run) {
  try {
    run();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

inline void put_named(Tx& tx, const std::string& name) {
  tx.exec("INSERT INTO principals (id, name, kind, admin, created_us) VALUES ($1, $2, 'agent', 0, 1)",
          {Param::raw(sha256(name).raw().substr(0, 16)), name});
}

inline std::vector<std::string> names_in(Database& db) {
  return db.read([](Statements& s) {
    return s.all("SELECT name FROM principals ORDER BY name", {}, [](const Row& row) { return row.str(0); });
  });
}

// A row of 15 pages.
inline std::string large(int number) {
  std::string bytes(60'000, 'x');
  return bytes.replace(0, 8, std::to_string(10'000'000 + number));
}
inline void put_large(Tx& tx, int number) {
  std::string bytes = large(number);
  tx.exec(
      "INSERT INTO blobs (hash, size, kind, refs, location, checked_us, bytes) VALUES ($1, $2, 0, 0, NULL, "
      "0, $3)",
      {sha256(bytes), bytes.size(), Param::raw(bytes)});
}
inline bool has_large(Statements& statements, int number) {
  std::string bytes = large(number);
  auto found = statements.one("SELECT bytes FROM blobs WHERE hash = $1", {sha256(bytes)},
                              [](const Row& row) { return row.str(0); });
  return found == bytes;
}

// "ok", or what is wrong with the database's pages and indexes.
inline std::string integrity_of(Database& db) {
  return *db.read([](Statements& s) {
    return s.one("PRAGMA integrity_check", {}, [](const Row& row) { return row.str(0); });
  });
}

// Replaces a system call of SQLite's own VFS, which lies below the catalog's, until the end of a test.
class SystemCall {
 public:
  template <class F>
  SystemCall(const char* name, F* replacement) : name_(name), vfs_(sqlite3_vfs_find("unix")) {
    original_ = vfs_->xGetSystemCall(vfs_, name_);
    SK_CHECK(original_ != nullptr, name_);
    vfs_->xSetSystemCall(vfs_, name_, reinterpret_cast<sqlite3_syscall_ptr>(replacement));
  }
  ~SystemCall() { vfs_->xSetSystemCall(vfs_, name_, original_); }
  SystemCall(const SystemCall&) = delete;
  SystemCall& operator=(const SystemCall&) = delete;

 private:
  const char* name_;
  sqlite3_vfs* vfs_;
  sqlite3_syscall_ptr original_;
};

// Lets writes to the log fail with `code` while `failures` is positive; each one that fails takes one away.
class FailingLogWrites {
 public:
  explicit FailingLogWrites(int code) : call_("pwrite", write) { error = code; }
  ~FailingLogWrites() { failures = 0; }

  static inline std::atomic<int> failures{0};

 private:
  static ssize_t write(int fd, const void* bytes, size_t count, off_t at) {
    if (failures > 0 && is_log(fd)) {
      --failures;
      errno = error;
      return -1;
    }
    return ::pwrite(fd, bytes, count, at);
  }
  static bool is_log(int fd) {
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), ignored)
        .string()
        .ends_with("-wal");
  }

  static inline std::atomic<int> error{0};
  SystemCall call_;
};

}  // namespace sk::catalog::test
