/* Landlock: defence in depth, in addition to the mounts. Code may read everything below the root and write to
 * its own three places. Where the kernel supports it, code may not use TCP, and may not reach abstract
 * sockets or processes outside. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

/* Newer than the headers of the build distribution. */
enum {
  ACCESS_EXECUTE = 1 << 0,
  ACCESS_WRITE_FILE = 1 << 1,
  ACCESS_READ_FILE = 1 << 2,
  ACCESS_READ_DIR = 1 << 3,
  ACCESS_ALL_1 = (1 << 13) - 1,
  ACCESS_REFER = 1 << 13,     /* ABI 2 */
  ACCESS_TRUNCATE = 1 << 14,  /* ABI 3 */
  ACCESS_IOCTL_DEV = 1 << 15, /* ABI 5 */
  NET_TCP = 3,                /* ABI 4: bind and connect */
  SCOPE_ALL = 3,              /* ABI 6: abstract sockets and signals */
};

struct ruleset_attributes {
  uint64_t fs, net, scoped;
};

int sk_landlock_abi(void) {
  return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

static int allow(int ruleset, const char* path, uint64_t access) {
  struct landlock_path_beneath_attr rule = {.allowed_access = access,
                                            .parent_fd = open(path, O_PATH | O_CLOEXEC)};
  if (rule.parent_fd < 0) return errno == ENOENT ? 0 : -1;
  int result = (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  int saved = errno;
  close(rule.parent_fd);
  errno = saved;
  return result;
}

int sk_restrict_with_landlock(struct sk_fault* fault) {
  int abi = sk_landlock_abi();
  if (abi < 1) return sk_fail(fault, SK_STEP_landlock);
  uint64_t all = ACCESS_ALL_1;
  if (abi >= 2) all |= ACCESS_REFER;
  if (abi >= 3) all |= ACCESS_TRUNCATE;
  if (abi >= 5) all |= ACCESS_IOCTL_DEV;
  struct ruleset_attributes attributes = {all, abi >= 4 ? NET_TCP : 0, abi >= 6 ? SCOPE_ALL : 0};
  size_t bytes = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, bytes, 0);
  if (ruleset < 0) return sk_fail(fault, SK_STEP_landlock);
  uint64_t read = ACCESS_EXECUTE | ACCESS_READ_FILE | ACCESS_READ_DIR;
  uint64_t device = ACCESS_READ_FILE | ACCESS_WRITE_FILE | (abi >= 3 ? ACCESS_TRUNCATE : 0);
  /* Nothing in /proc is writable: code must not lower its oom_score_adj. */
  uint64_t own = all & ~(uint64_t)ACCESS_IOCTL_DEV;
  if (allow(ruleset, "/", read) != 0 || allow(ruleset, "/mnt/data", own) != 0 ||
      allow(ruleset, "/tmp", own) != 0 || allow(ruleset, "/dev/null", device) != 0 ||
      allow(ruleset, "/dev/zero", device) != 0 || allow(ruleset, "/dev/full", device) != 0)
    return sk_fail(fault, SK_STEP_landlock);
  if (syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) return sk_fail(fault, SK_STEP_landlock);
  close(ruleset);
  return 0;
}
