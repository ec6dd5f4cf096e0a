/* Installs the system call filter that the server compiled (seccomp_policy.cpp). */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common.h"

int sk_install_filter(const void* instructions, size_t instruction_count, struct sk_fault* fault) {
  if (instruction_count == 0 || instruction_count > SK_FILTER_INSTRUCTIONS_MAX) {
    errno = EINVAL;
    return sk_fail(fault, SK_STEP_seccomp);
  }
  struct sock_fprog program = {(unsigned short)instruction_count, (struct sock_filter*)instructions};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) return sk_fail(fault, SK_STEP_seccomp);
  return 0;
}
