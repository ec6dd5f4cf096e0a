/* Privileges that end for good: capabilities, new privileges, and speculation across processes. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

int sk_drop_capabilities(struct sk_fault* fault) {
  /* Makes uid 0 an ordinary id. Needs CAP_SETPCAP, so it comes first. */
  unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                       SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                       SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  if (prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) != 0) return sk_fail(fault, SK_STEP_capabilities);
  for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; ++cap)
    if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0) return sk_fail(fault, SK_STEP_capabilities);
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
    return sk_fail(fault, SK_STEP_capabilities);
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  memset(data, 0, sizeof data);
  if (syscall(SYS_capset, &header, data) != 0) return sk_fail(fault, SK_STEP_capabilities);
  /* Verify the result with the kernel. */
  if (syscall(SYS_capget, &header, data) != 0) return sk_fail(fault, SK_STEP_capabilities);
  if (data[0].effective | data[0].permitted | data[0].inheritable | data[1].effective | data[1].permitted |
      data[1].inheritable) {
    errno = EPERM;
    return sk_fail(fault, SK_STEP_capabilities);
  }
  return 0;
}

int sk_forbid_new_privileges(struct sk_fault* fault) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return sk_fail(fault, SK_STEP_no_new_privileges);
  return 0;
}

/* Keeps what this process does from being inferred from shared parts of the processor, and the reverse. Not
 * all processors need it or have it, and some kernels always do it: all of them are fine. */
void sk_limit_speculation(void) {
  prctl(PR_SET_SPECULATION_CTRL, PR_SPEC_STORE_BYPASS, PR_SPEC_FORCE_DISABLE, 0, 0);
  prctl(PR_SET_SPECULATION_CTRL, PR_SPEC_INDIRECT_BRANCH, PR_SPEC_FORCE_DISABLE, 0, 0);
}
