/* User and group ids of the session; real ids of the host if the server is root. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

/* Restores the effective capabilities, because changing the user id keeps the permitted set and clears the
 * effective one. */
static int raise_capabilities(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  if (syscall(SYS_capget, &header, data) != 0) return -1;
  for (int i = 0; i < 2; ++i) data[i].effective = data[i].permitted;
  return (int)syscall(SYS_capset, &header, data);
}

/* Uses plain system calls, because the process has one thread and libc's wrappers may allocate memory.
 * Keeps the capabilities: they are needed for the user namespace and dropped right after it. */
int sk_take_identity(uint32_t uid, uint32_t gid, struct sk_fault* fault) {
  if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0) return sk_fail(fault, SK_STEP_identity);
  /* In a user namespace with one user, setgroups is forbidden and there are no groups to drop. */
  if (syscall(SYS_setgroups, (size_t)0, NULL) != 0 && errno != EPERM) return sk_fail(fault, SK_STEP_identity);
  if (syscall(SYS_setresgid, gid, gid, gid) != 0) return sk_fail(fault, SK_STEP_identity);
  if (syscall(SYS_setresuid, uid, uid, uid) != 0) return sk_fail(fault, SK_STEP_identity);
  if (raise_capabilities() != 0) return sk_fail(fault, SK_STEP_identity);
  return 0;
}
