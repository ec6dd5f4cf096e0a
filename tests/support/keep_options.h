// Options of a keep for tests: roomy limits, every kind of background work, and strict writes.
#pragma once

#include <string>

#include "base/magic.h"
#include "workspace/keep.h"

namespace sk::test {

inline workspace::KeepLimits workspace_limits() {
  return {.quota_default_bytes = 50ull << 30,
          .principal_quota_bytes = 0,
          .workspaces_per_principal_max = 1000,
          .keys_per_principal_max = 1000,
          .sessions_kept_per_principal_max = 1000,
          .file_bytes_max = 5ull << 40,
          .list_max = 1000,
          .list_scan_max = 20'000,
          .batch_max = 10'000,
          .changed_entries_max = 25'000,
          .lock_ttl_min_s = 60,
          .lock_ttl_max_s = 3600,
          .locks_per_workspace_max = 10'000,
          .disk_reserve_bytes = 0,
          .message_text_bytes_max = 4 << 20,
          .message_files_max = 1000};
}

inline workspace::KeepOptions keep_options(const std::string& directory) {
  return {.directory = directory,
          .limits = workspace_limits(),
          .access_log_retention_days = 90,
          .access_log_bytes_max = 4ull << 30,
          .group_commit_max = 128,
          .catalog_readers = 8,
          .trash_retention_s = 0,
          .collect_interval_s = 3600,
          .scrub_interval_s = 60,
          .scrub_slice_bytes = 64 << 20,
          .checkpoint_interval_s = 300,
          .type_of_bytes = type_by_magic,
          .strict_writes = true};
}

}  // namespace sk::test
