// Limits of the interpreter and its sessions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sk::interpreter {

// The fields without a value here are settings; their defaults are in the server's table.
struct InterpreterOptions {
  std::string directory;  // below it lie the working copies
  uint64_t memory_default_bytes;
  uint64_t memory_max_bytes;
  int64_t timeout_default_s;
  int64_t timeout_max_s;
  int64_t idle_default_s;
  int64_t copy_keep_s;      // of a session that sleeps
  size_t output_bytes_max;  // in an answer; the whole is kept as a file
  uint64_t file_bytes_max;
  uint64_t disk_bytes_max;                  // that one session's files may take
  uint64_t files_max;                       // that one session may have
  uint64_t disk_reserve_bytes;              // of the disk; no session may touch it
  size_t sessions_max;                      // awake at once on this server
  size_t sessions_per_principal_max;        // awake at once
  size_t watched_folders_max;               // of one session
  std::string boot_id;                      // of this boot of the machine; empty: unknown
  uint64_t spill_bytes_max = 256ull << 20;  // of the file with an execution's whole output
  size_t queue_max = 100;                   // executions waiting in one session
  size_t threads = 8;
};

}  // namespace sk::interpreter
