/* Descriptors: which ones a process keeps open, and under which numbers. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

int sk_close_from(int first_fd, struct sk_fault* fault) {
  if (syscall(SYS_close_range, (unsigned)first_fd, ~0u, 0u) != 0) return sk_fail(fault, SK_STEP_descriptors);
  return 0;
}

int sk_arrange_descriptors(const int* fds, int count, struct sk_fault* fault) {
  int high[16];
  if (count > 16) {
    errno = EINVAL;
    return sk_fail(fault, SK_STEP_descriptors);
  }
  /* Move them to high numbers first, so they do not overwrite each other. */
  for (int i = 0; i < count; ++i)
    if ((high[i] = fcntl(fds[i], F_DUPFD, 64)) < 0) return sk_fail(fault, SK_STEP_descriptors);
  for (int i = 0; i < count; ++i)
    if (dup2(high[i], i) < 0) return sk_fail(fault, SK_STEP_descriptors);
  for (int i = 0; i < count; ++i) close(high[i]);
  return 0;
}
