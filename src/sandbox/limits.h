// What one session may use, and what it did use.
#pragma once

#include <cstdint>

namespace sk::sandbox {

struct Limits {
  uint64_t memory_bytes = 1ull << 30;
  uint64_t cpu_percent = 100;    // of one core; 0: no limit of its own
  uint64_t processes_max = 256;  // threads count too
  uint64_t tmp_bytes =
      256ull << 20;  // of /tmp, $HOME and /dev/shm together; it is memory, and counts as such
  // The apparent size of one file, holes included; what files take together is the disk guard's business.
  uint64_t file_bytes_max = 64ull << 30;
  uint64_t open_files_max = 1024;  // per process
};

// Zero where the host cannot tell.
struct Usage {
  uint64_t memory_bytes = 0;
  uint64_t memory_peak_bytes = 0;
  uint64_t cpu_us = 0;
  uint64_t processes = 0;
  uint64_t oom_kills = 0;          // processes that the kernel killed for memory
  uint64_t processes_refused = 0;  // forks that failed at processes_max
};

}  // namespace sk::sandbox
