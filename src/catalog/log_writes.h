// Gathers what SQLite writes to its write-ahead log. SQLite writes each page of a commit by two calls, a
// frame's header and the page; here they become one write, just before the sync that makes the commit
// durable.
#pragma once

namespace sk::catalog {

// The name of a VFS that is SQLite's own but for that. Registers it at the first call; any thread.
const char* vfs_that_gathers_log_writes();

}  // namespace sk::catalog
