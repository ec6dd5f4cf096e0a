// Limits of the interpreter and its sessions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sk::interpreter {

// Fields without a value here are settings; the server's table has their defaults.
struct InterpreterOptions {
  std::string directory;  // directory of the working copies
  uint64_t memory_default_bytes;
  uint64_t memory_max_bytes;
  uint64_t io_bytes_per_s;        // of one session; 0: no limit
  int64_t background_time_max_s;  // of processes that outlive their cell; 0: no limit
  int64_t timeout_default_s;
  int64_t timeout_max_s;
  int64_t idle_default_s;
  int64_t copy_keep_s;         // for sleeping sessions
  size_t output_bytes_max;     // of an answer; the whole output is kept as a file
  size_t output_memory_bytes;  // of the outputs of all executions; further output goes to files
  size_t copy_memory_bytes;    // for the names and marks of the files of awake sessions
  size_t list_bytes_max;       // of a page of executions
  uint64_t file_bytes_max;
  uint64_t disk_bytes_max;      // of one session's files
  uint64_t files_max;           // of one session
  uint64_t disk_reserve_bytes;  // free disk space that is left to the catalog
  uint64_t
      session_disk_reserve_bytes;     // free disk space that is left to uploads; at most a tenth of the disk
  size_t sessions_max;                // awake on this server at the same time
  size_t sessions_per_principal_max;  // awake at the same time
  size_t queue_max;                   // requests that wait for one session, and its waiting executions
  size_t watched_folders_max;         // per session
  size_t threads;                     // for starting cells, keeping files, waking and sleeping
  size_t threads_per_principal_max;
  std::string boot_id;                      // id of the machine's current boot; empty: unknown
  uint64_t spill_bytes_max = 256ull << 20;  // of the file with an execution's whole output

  // Returns the free space of the directory's disk that no session may use.
  uint64_t reserve_of_disk() const;
};

}  // namespace sk::interpreter
