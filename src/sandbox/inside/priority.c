/* Sessions give way: to the server, to other programs when the processor is busy, and first of all when
 * memory runs out. Children inherit all of it, and neither the resource limits nor the filter let code undo
 * it. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common.h"

/* An ordinary process beside one of a session gets nine tenths of a core. A larger number would leave
 * sessions next to nothing beside any other busy program. */
enum { kNice = 10 };

static int lower_priority(void) {
  errno = 0;
  int current = getpriority(PRIO_PROCESS, 0);
  if (current == -1 && errno != 0) return -1;
  if (current < kNice && setpriority(PRIO_PROCESS, 0, kNice) != 0) return -1;
  /* A batch process does not interrupt others when it wakes. A server that already runs at a lower policy
   * stays there. */
  const struct sched_param none = {0};
  return sched_getscheduler(0) == SCHED_OTHER ? sched_setscheduler(0, SCHED_BATCH, &none) : 0;
}

int sk_give_way(struct sk_fault* fault) {
  /* The highest score: the kernel ends the largest process of a session before the server or anything else.
   * The files of a session are kept, and it can wake again. */
  static const char score[] = "1000";
  if (lower_priority() != 0 || sk_write_text("/proc/self/oom_score_adj", score, sizeof score - 1) != 0)
    return sk_fail(fault, SK_STEP_priority);
  return 0;
}
