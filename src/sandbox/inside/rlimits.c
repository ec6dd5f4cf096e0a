/* Resource limits. The cgroup limits memory, because RLIMIT_AS breaks libraries that reserve address
 * space.
 *
 * Since Linux 5.14, processes, pending signals, locked memory and message queues are counted per user
 * namespace, and in those above it. A namespace takes the limits of the process that creates it as limits on
 * the count above, which all sessions of one user share. So the limits of a session are set inside its own
 * namespace, which was created with the limits of the server. Earlier kernels count by user only. */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

struct sk_rlimit64 {
  uint64_t soft, hard;
};

static int set_limit(int resource, uint64_t value) {
  struct sk_rlimit64 current;
  if (syscall(SYS_prlimit64, 0, resource, NULL, &current) != 0) return -1;
  if (value > current.hard) value = current.hard; /* raising needs a capability that the host may lack */
  struct sk_rlimit64 limit = {value, value};
  return (int)syscall(SYS_prlimit64, 0, resource, &limit, NULL);
}

int sk_set_rlimits(const struct sk_go* go, struct sk_fault* fault) {
  const struct {
    int resource;
    uint64_t value;
  } limits[] = {
      {RLIMIT_CORE, 0},
      {RLIMIT_FSIZE, go->file_bytes_max},
      {RLIMIT_NOFILE, go->open_files_max},
      {RLIMIT_NPROC, go->processes_max},
      {RLIMIT_MEMLOCK, 64 << 10},
      {RLIMIT_MSGQUEUE, 64 << 10},
      {RLIMIT_SIGPENDING, 1024},
      {RLIMIT_NICE, 0},
      {RLIMIT_RTPRIO, 0},
      {RLIMIT_DATA, go->data_bytes_max ? go->data_bytes_max : ~(uint64_t)0},
      {RLIMIT_CPU, go->cpu_s_max ? go->cpu_s_max : ~(uint64_t)0},
  };
  for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i)
    if (set_limit(limits[i].resource, limits[i].value) != 0) return sk_fail(fault, SK_STEP_rlimits);
  return 0;
}
