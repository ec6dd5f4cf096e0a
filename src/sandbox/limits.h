// Resource limits and resource usage of one session.
#pragma once

#include <cstdint>

namespace sk::sandbox {

struct SessionLimits {
  uint64_t memory_bytes = 1ull << 30;
  uint64_t cpu_percent = 100;    // of one core; 0: unlimited
  uint64_t processes_max = 256;  // includes threads
  // Total of /tmp, $HOME and /dev/shm. They are in memory and count towards memory_bytes.
  uint64_t tmp_bytes = 256ull << 20;
  // Maximum apparent size of one file, including holes. The disk guard limits the total.
  uint64_t file_bytes_max = 64ull << 30;
  // Of everything in the data folder together, where the host has project quotas; 0: unlimited.
  uint64_t disk_bytes_max = 0;
  uint64_t disk_files_max = 0;
  uint64_t open_files_max = 1024;  // per process
  uint64_t cpu_s_max = 0;          // of one process, where control groups do not limit it; 0: unlimited
  uint64_t io_bytes_per_s = 0;     // read from the disk, and written; 0: unlimited
};

// Fields are zero where the host cannot measure them.
struct Usage {
  uint64_t memory_bytes = 0;
  uint64_t memory_cache_bytes = 0;  // contents of files, which the kernel can drop; part of memory_bytes
  uint64_t memory_peak_bytes = 0;
  uint64_t cpu_us = 0;
  uint64_t processes = 0;
  uint64_t oom_kills = 0;          // processes killed by the kernel for memory
  uint64_t processes_refused = 0;  // forks that failed because of processes_max
  uint64_t calls_refused = 0;      // system calls that need privileges; the first 10,000 are counted
};

}  // namespace sk::sandbox
