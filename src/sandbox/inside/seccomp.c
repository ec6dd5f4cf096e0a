/* Installs the system call filter that the server compiled (seccomp_policy.cpp). */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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

int sk_install_filter_with_listener(const void* instructions, size_t instruction_count, int* listener,
                                    struct sk_fault* fault) {
  struct sock_fprog program = {(unsigned short)instruction_count, (struct sock_filter*)instructions};
  *listener = -1;
  if (instruction_count > 0 && instruction_count <= SK_FILTER_INSTRUCTIONS_MAX)
    *listener =
        (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  return *listener >= 0 ? 0 : sk_install_filter(instructions, instruction_count, fault);
}
