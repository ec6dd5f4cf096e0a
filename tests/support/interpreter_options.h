// Options of sandboxes and of the interpreter for tests.
#pragma once

#include <string>

#include "interpreter/options.h"
#include "sandbox/host.h"

namespace sk::test {

inline sandbox::SandboxHost::Options host_options(const std::string& data_root) {
  sandbox::SandboxHost::Options options;
  options.data_root = data_root;
  options.pool_size = 2;
  options.preallocation_bytes_max = 1ull << 30;
  options.approximate = sandbox::ApproximateLimitsAllowed::by_operator();
  return options;
}

inline interpreter::InterpreterOptions interpreter_options(const std::string& directory) {
  return {.directory = directory,
          .memory_default_bytes = 1ull << 30,
          .memory_max_bytes = 16ull << 30,
          .io_bytes_per_s = 0,
          .background_time_max_s = 86'400,
          .timeout_default_s = 120,
          .timeout_max_s = 3600,
          .idle_default_s = 20 * 60,
          .copy_keep_s = 7 * 86'400,
          .output_bytes_max = 1 << 20,
          .output_memory_bytes = 256 << 20,
          .copy_memory_bytes = 1 << 30,
          .list_bytes_max = 4 << 20,
          .file_bytes_max = 64ull << 30,
          .disk_bytes_max = 10ull << 30,
          .files_max = 500'000,
          .disk_reserve_bytes = 0,
          .session_disk_reserve_bytes = 0,
          .sessions_max = 200,
          .sessions_per_principal_max = 50,
          .queue_max = 100,
          .watched_folders_max = 8'192,
          .threads = 16,
          .threads_per_principal_max = 8,
          .boot_id = ""};
}

}  // namespace sk::test
