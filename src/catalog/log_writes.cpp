#include "catalog/log_writes.h"

#include <sqlite3.h>

#include <cstring>
#include <new>
#include <string>

#include "base/error.h"

namespace sk::catalog {

namespace {

constexpr const char* kName = "sandkeep";
// Larger commits are written in parts. SQLite's own VFS accepts less than 128 KiB per write, because it is
// made for pages of at most 64 KiB.
constexpr size_t kGatheredBytesMax = 127 << 10;

// The log as SQLite sees it: the underlying file, overlaid with the buffered bytes from `start` on. The
// object of the underlying file follows directly, in memory that SQLite owns.
//
// Checked against wal.c of SQLite 3.53.2:
// - Only the connection with the write lock writes the log. Every commit ends with xSync, because synchronous
//   is FULL, and only then updates the shared index (walFrames). Other connections read no frame beyond that
//   index, so they never miss buffered bytes. SqliteConnection checks this after every commit.
// - A transaction reads its own frames when the cache spilled them, and when it recomputes checksums after
//   replacing a spilled frame (walRewriteChecksums). It reads them from here.
// - Most writes append. A replaced frame, a checksum and the first frame after a rollback are at earlier
//   positions. Such a write changes the buffered bytes or is made after them, never before.
// - Buffered bytes are uncommitted. They are kept until they are written, even if a write fails. SQLite may
//   then roll back only a statement and continue with the earlier frames.
struct LogFile {
  sqlite3_file base;
  std::string gathered;
  sqlite3_int64 start = 0;
  bool lazy = false;

  sqlite3_file* behind() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  sqlite3_int64 end() const { return start + static_cast<sqlite3_int64>(gathered.size()); }
};

LogFile& log_of(sqlite3_file* file) { return *reinterpret_cast<LogFile*>(file); }

int flush(LogFile& log) {
  if (log.gathered.empty()) return SQLITE_OK;
  sqlite3_file* behind = log.behind();
  int code =
      behind->pMethods->xWrite(behind, log.gathered.data(), static_cast<int>(log.gathered.size()), log.start);
  if (code == SQLITE_OK) log.gathered.clear();
  return code;
}

// Drops the buffered bytes. No transaction is open, so they belong to one that was rolled back.
int close_log(sqlite3_file* file) {
  LogFile& log = log_of(file);
  int closed = log.behind()->pMethods->xClose(log.behind());
  log.~LogFile();
  return closed;
}

int read_log(sqlite3_file* file, void* into, int count, sqlite3_int64 at) {
  LogFile& log = log_of(file);
  const bool overlaps = !log.gathered.empty() && at < log.end() && at + count > log.start;
  if (overlaps && at >= log.start && at + count <= log.end()) {
    std::memcpy(into, log.gathered.data() + (at - log.start), static_cast<size_t>(count));
    return SQLITE_OK;
  }
  if (int code = overlaps ? flush(log) : SQLITE_OK; code != SQLITE_OK) return code;
  return log.behind()->pMethods->xRead(log.behind(), into, count, at);
}

int write_log(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at) {
  LogFile& log = log_of(file);
  if (!log.gathered.empty() && at >= log.start && at + count <= log.end()) {
    std::memcpy(log.gathered.data() + (at - log.start), bytes, static_cast<size_t>(count));
    return SQLITE_OK;
  }
  if (at != log.end() || log.gathered.size() + static_cast<size_t>(count) > kGatheredBytesMax)
    if (int code = flush(log); code != SQLITE_OK) return code;
  if (log.gathered.empty()) log.start = at;
  try {
    log.gathered.append(static_cast<const char*>(bytes), static_cast<size_t>(count));
  } catch (const std::bad_alloc&) {
    return SQLITE_IOERR_NOMEM;
  }
  return SQLITE_OK;
}

int truncate_log(sqlite3_file* file, sqlite3_int64 size) {
  LogFile& log = log_of(file);
  if (int code = flush(log); code != SQLITE_OK) return code;
  return log.behind()->pMethods->xTruncate(log.behind(), size);
}

int sync_log(sqlite3_file* file, int flags) {
  LogFile& log = log_of(file);
  const bool begins = !log.gathered.empty() && log.start == 0;
  if (int code = flush(log); code != SQLITE_OK) return code;
  if (log.lazy && !begins) return SQLITE_OK;
  return log.behind()->pMethods->xSync(log.behind(), flags);
}

int size_of_log(sqlite3_file* file, sqlite3_int64* size) {
  LogFile& log = log_of(file);
  if (int code = flush(log); code != SQLITE_OK) return code;
  return log.behind()->pMethods->xFileSize(log.behind(), size);
}

int lock_log(sqlite3_file* file, int level) {
  return log_of(file).behind()->pMethods->xLock(log_of(file).behind(), level);
}

int unlock_log(sqlite3_file* file, int level) {
  return log_of(file).behind()->pMethods->xUnlock(log_of(file).behind(), level);
}

int is_log_reserved(sqlite3_file* file, int* result) {
  return log_of(file).behind()->pMethods->xCheckReservedLock(log_of(file).behind(), result);
}

int control_log(sqlite3_file* file, int what, void* argument) {
  return log_of(file).behind()->pMethods->xFileControl(log_of(file).behind(), what, argument);
}

int sector_of_log(sqlite3_file* file) {
  return log_of(file).behind()->pMethods->xSectorSize(log_of(file).behind());
}

int traits_of_log(sqlite3_file* file) {
  return log_of(file).behind()->pMethods->xDeviceCharacteristics(log_of(file).behind());
}

// Version 1: the log has no shared memory and is never memory-mapped.
const sqlite3_io_methods kLogMethods = {
    .iVersion = 1,
    .xClose = close_log,
    .xRead = read_log,
    .xWrite = write_log,
    .xTruncate = truncate_log,
    .xSync = sync_log,
    .xFileSize = size_of_log,
    .xLock = lock_log,
    .xUnlock = unlock_log,
    .xCheckReservedLock = is_log_reserved,
    .xFileControl = control_log,
    .xSectorSize = sector_of_log,
    .xDeviceCharacteristics = traits_of_log,
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

sqlite3_vfs* own_vfs(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* flags_out) {
  sqlite3_vfs* own = own_vfs(vfs);
  if ((flags & SQLITE_OPEN_WAL) == 0) return own->xOpen(own, name, file, flags, flags_out);
  auto* log = new (file) LogFile{};
  int code = own->xOpen(own, name, log->behind(), flags, flags_out);
  if (code == SQLITE_OK) {
    log->base.pMethods = &kLogMethods;
    return SQLITE_OK;
  }
  log->~LogFile();
  file->pMethods = nullptr;  // keeps SQLite from closing a file that was not opened
  return code;
}

// Copies SQLite's own VFS and replaces xOpen. The other functions use their first argument only for its name
// and for pAppData, which the unix VFS needs itself. Each is therefore called with its own VFS.
sqlite3_vfs make_vfs(sqlite3_vfs* own) {
  sqlite3_vfs vfs = *own;
  vfs.zName = kName;
  vfs.pNext = nullptr;
  vfs.pAppData = own;
  vfs.szOsFile = static_cast<int>(sizeof(LogFile)) + own->szOsFile;
  vfs.xOpen = open_file;
  vfs.xDelete = [](sqlite3_vfs* v, const char* name, int sync) {
    return own_vfs(v)->xDelete(own_vfs(v), name, sync);
  };
  vfs.xAccess = [](sqlite3_vfs* v, const char* name, int flags, int* result) {
    return own_vfs(v)->xAccess(own_vfs(v), name, flags, result);
  };
  vfs.xFullPathname = [](sqlite3_vfs* v, const char* name, int size, char* into) {
    return own_vfs(v)->xFullPathname(own_vfs(v), name, size, into);
  };
  vfs.xRandomness = [](sqlite3_vfs* v, int size, char* into) {
    return own_vfs(v)->xRandomness(own_vfs(v), size, into);
  };
  vfs.xSleep = [](sqlite3_vfs* v, int microseconds) { return own_vfs(v)->xSleep(own_vfs(v), microseconds); };
  vfs.xCurrentTime = [](sqlite3_vfs* v, double* into) { return own_vfs(v)->xCurrentTime(own_vfs(v), into); };
  vfs.xCurrentTimeInt64 = [](sqlite3_vfs* v, sqlite3_int64* into) {
    return own_vfs(v)->xCurrentTimeInt64(own_vfs(v), into);
  };
  vfs.xGetLastError = [](sqlite3_vfs* v, int size, char* into) {
    return own_vfs(v)->xGetLastError(own_vfs(v), size, into);
  };
  return vfs;
}

// Returns the connection's log, or null while it has none.
LogFile* log_of_connection(sqlite3* connection) {
  sqlite3_file* file = nullptr;
  int code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
  return code == SQLITE_OK && file != nullptr && file->pMethods == &kLogMethods ? &log_of(file) : nullptr;
}

}  // namespace

bool has_gathered_log_writes(sqlite3* connection) {
  const LogFile* log = log_of_connection(connection);
  return log != nullptr && !log->gathered.empty();
}

void drop_gathered_log_writes(sqlite3* connection) {
  if (LogFile* log = log_of_connection(connection)) log->gathered.clear();
}

void sync_log_lazily(sqlite3* connection, bool lazy) {
  if (LogFile* log = log_of_connection(connection)) log->lazy = lazy;
}

const char* vfs_that_gathers_log_writes() {
  static sqlite3_vfs vfs = [] {
    sqlite3_vfs* own = sqlite3_vfs_find(nullptr);
    SK_CHECK(own != nullptr, "SQLite has no VFS");
    return make_vfs(own);
  }();
  static const int code = sqlite3_vfs_register(&vfs, 0);
  SK_CHECK(code == SQLITE_OK, "SQLite did not take the VFS");
  return kName;
}

}  // namespace sk::catalog
