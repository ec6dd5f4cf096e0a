// Deletes the rows of files for ever. Private to this room; for purges of trashed entries (trash.cpp) and of
// whole workspaces (workspace_purges.cpp).
#pragma once

#include "workspace/change_run.h"
#include "workspace/files.h"

namespace sk::workspace {

// A purge goes on in another transaction after about this many rows, so that other writers get between.
inline constexpr int64_t kPurgedAtOnce = 500;

// Deletes versions and records their ids, so that their links return 410. The caller subtracts
// `result.freed_bytes` from the workspace's contents.
void purge_versions(ChangeRun& run, const std::vector<Version>& versions, PurgeResult& result);

// Purges an entry and up to `versions_max` of its versions, its head last. Returns whether it is gone: while
// it has more versions, it stays.
bool purge_entry(ChangeRun& run, const Id& id, int64_t versions_max, PurgeResult& result);

inline int64_t rows_of(const PurgeResult& result) { return result.files + result.versions; }

void add_result(PurgeResult& sum, PurgeResult part);

}  // namespace sk::workspace
