// Reads and writes the rows of the domain's value types. For this room, and for queries of other rooms that
// join its tables (EXCEPTIONS in tests/tidy/test_tables.py).
#pragma once

#include "catalog/columns.h"
#include "workspace/keep_context.h"
#include "workspace/types.h"

namespace sk::workspace {

// Inserts a workspace and the first entry of its journal. Error(conflict) if the owner has a live workspace
// with that name, Error(quota_exceeded) if it has as many as it may.
Workspace insert_workspace(catalog::Tx& tx, KeepContext& context, const Author& owner,
                           const std::string& name, uint64_t quota_bytes);

// Whether the actor may read the workspace. Also true for a trashed workspace.
bool may_read(catalog::Statements& statements, const Actor& actor, const Id& workspace);

// Columns of an Entry for read_entry(), for a table alias `e`.
#define SK_ENTRY_LIST(FIRST, NEXT)       \
  FIRST(id, "e.id")                      \
  NEXT(workspace, "e.workspace")         \
  NEXT(parent, "e.parent")               \
  NEXT(name, "e.name")                   \
  NEXT(kind, "e.kind")                   \
  NEXT(head, "e.head")                   \
  NEXT(size, "e.size")                   \
  NEXT(sha256, "e.sha256")               \
  NEXT(mime, "e.mime")                   \
  NEXT(mode, "e.mode")                   \
  NEXT(mtime_us, "e.mtime_us")           \
  NEXT(created_us, "e.created_us")       \
  NEXT(changed_us, "e.changed_us")       \
  NEXT(version_count, "e.version_count") \
  NEXT(diverged, "e.diverged")           \
  NEXT(trashed_us, "e.trashed_us")       \
  NEXT(last_number, "e.last_number")     \
  NEXT(trash_root, "e.trash_root")
#define SK_ENTRY_COLUMNS SK_COLUMN_TEXT(SK_ENTRY_LIST)
SK_COLUMN_NAMES(EntryColumn, SK_ENTRY_LIST);
Entry read_entry(const catalog::Row& row);

// Columns of a Version for read_version(), for `v` (versions), `e` (its entry) and `p` (its author).
#define SK_VERSION_LIST(FIRST, NEXT)     \
  FIRST(id, "v.id")                      \
  NEXT(file, "v.file")                   \
  NEXT(workspace, "v.workspace")         \
  NEXT(parent, "e.parent")               \
  NEXT(name, "e.name")                   \
  NEXT(number, "v.number")               \
  NEXT(size, "v.size")                   \
  NEXT(sha256, "v.sha256")               \
  NEXT(mime, "v.mime")                   \
  NEXT(mode, "v.mode")                   \
  NEXT(mtime_us, "v.mtime_us")           \
  NEXT(base, "v.base")                   \
  NEXT(created_us, "v.created_us")       \
  NEXT(author, "v.author")               \
  NEXT(author_name, "p.name")            \
  NEXT(source, "v.source")               \
  NEXT(source_detail, "v.source_detail") \
  NEXT(complete, "v.complete")           \
  NEXT(head, "e.head")
#define SK_VERSION_COLUMNS SK_COLUMN_TEXT(SK_VERSION_LIST)
SK_COLUMN_NAMES(VersionColumn, SK_VERSION_LIST);
#define SK_VERSION_TABLES \
  "versions v JOIN entries e ON e.id = v.file LEFT JOIN principals p ON p.id = v.author"
Version read_version(const catalog::Row& row);

}  // namespace sk::workspace
