// Gathers what SQLite writes to its write-ahead log. SQLite writes each page of a commit by two calls, a
// frame's header and the page; here they become one write, just before the sync that makes the commit
// durable.
#pragma once

struct sqlite3;

namespace sk::catalog {

// The name of a VFS that is SQLite's own but for that. Registers it at the first call; any thread.
const char* vfs_that_gathers_log_writes();

// Whether the connection has gathered bytes that are not in its log yet. After a commit it has none. The
// connection must use the VFS; its own thread only.
bool has_gathered_log_writes(sqlite3* connection);

// While `lazy`, a commit is written to the log but not synced: it survives the process, and a power cut only
// once something later was synced. The beginning of a log is synced all the same, as SQLite needs it: behind
// an old one, what is left of its frames would be read again. The same conditions.
void sync_log_lazily(sqlite3* connection, bool lazy);

// Drops the gathered bytes of a transaction that was rolled back, so that they do not fail a later one on a
// full disk. The same conditions.
void drop_gathered_log_writes(sqlite3* connection);

}  // namespace sk::catalog
