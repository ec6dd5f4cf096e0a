// Buffers SQLite's writes to its write-ahead log. SQLite writes each page of a commit with two calls, one for
// the frame header and one for the page. This VFS combines them into one write, just before the sync that
// makes the commit durable.
#pragma once

struct sqlite3;

namespace sk::catalog {

// Returns the name of a VFS that equals SQLite's own except for this buffering. The first call registers it.
// Thread-safe.
const char* vfs_that_gathers_log_writes();

// Returns whether the connection has buffered bytes that are not in its log yet. There are none after a
// commit. The connection must use this VFS. Call only on the connection's thread.
bool has_gathered_log_writes(sqlite3* connection);

// While `lazy`, a commit is written to the log but not synced. It survives the end of the process, but a
// power cut only once something later is synced. The start of a log is always synced, as SQLite requires.
// Otherwise recovery could read frames of the old log after the new ones. Same preconditions.
void sync_log_lazily(sqlite3* connection, bool lazy);

// Drops the buffered bytes of a rolled-back transaction, so they do not make a later one fail on a full disk.
// Same preconditions.
void drop_gathered_log_writes(sqlite3* connection);

}  // namespace sk::catalog
