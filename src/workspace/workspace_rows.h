// Reads and writes the rows of the domain's value types. For this room, and for queries of other rooms that
// join its tables (EXCEPTIONS in tests/tidy/test_tables.py).
#pragma once

#include "workspace/ground.h"
#include "workspace/types.h"

namespace sk::workspace {

// Inserts a workspace and the first entry of its journal. Error(conflict) if the owner has a live workspace
// with that name.
Workspace insert_workspace(catalog::Tx& tx, Ground& ground, const Actor& owner, const std::string& name,
                           uint64_t quota_bytes);

// Whether the actor may read the workspace. Also true for a trashed workspace.
bool may_read(catalog::Statements& statements, const Actor& actor, const Id& workspace);

// Columns of an Entry in the order that read_entry() expects, for a table alias `e`.
#define SK_ENTRY_COLUMNS                                                                                \
  "e.id, e.workspace, e.parent, e.name, e.kind, e.head, e.size, e.sha256, e.mime, e.mode, e.mtime_us, " \
  "e.created_us, e.changed_us, "                                                                        \
  "e.version_count, e.diverged, e.trashed_us, e.last_number, e.trash_root"
constexpr int kEntryColumns = 18;  // index of the first column that a query adds
Entry read_entry(const catalog::Row& row);

// Columns of a Version for read_version(), for `v` (versions), `e` (its entry) and `p` (its author).
#define SK_VERSION_COLUMNS                                                                                \
  "v.id, v.file, v.workspace, e.parent, e.name, v.number, v.size, v.sha256, v.mime, v.mode, v.mtime_us, " \
  "v.base, v.created_us, v.author, "                                                                      \
  "p.name, v.source, v.source_detail, v.complete, e.head"
#define SK_VERSION_TABLES \
  "versions v JOIN entries e ON e.id = v.file LEFT JOIN principals p ON p.id = v.author"
Version read_version(const catalog::Row& row);

}  // namespace sk::workspace
