/* The path from a fork of the zygote to user code, as one list of steps. sk_session_enter is the sandbox's
 * security argument. Loaded into the zygote's Python by ctypes. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

/* Descriptors of a session's main process. The last two are closed before user code runs. */
enum { kNull = 0, kOut = 1, kErr = 2, kChannel = 3, kGate = 4, kInit = 5, kArranged = 6 };

static struct sk_filter_head rules;
static struct sock_filter filter[SK_FILTER_INSTRUCTIONS_MAX];
static size_t filter_instructions;
static uint32_t init_uid; /* of the init that the next children join */

/* Called once, in the zygote; sessions inherit the rules and the filter that they install. */
int sk_load_filter(int fd) {
  if (pread(fd, &rules, sizeof rules, 0) != (ssize_t)sizeof rules) return -1;
  ssize_t count = pread(fd, filter, sizeof filter, sizeof rules);
  if (count <= 0 || (size_t)count % sizeof *filter != 0) return -1;
  filter_instructions = (size_t)count / sizeof *filter;
  return 0;
}

/* Makes the zygote's next children start in the pid namespace of the process `init_pidfd`. The server chooses
 * it, and may be under foreign control: it must be an init that the zygote's parent, the launcher, started.
 */
int sk_children_go_to(int init_pidfd) {
  if (sk_check_init(init_pidfd, getppid(), &init_uid) != 0) return -1;
  return setns(init_pidfd, CLONE_NEWPID);
}

static int arrange(int init_pidfd, int gate_fd, int channel_fd, int out_fd, int err_fd,
                   struct sk_fault* fault) {
  int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null_fd < 0) return sk_fail(fault, SK_STEP_descriptors);
  const int keep[kArranged] = {null_fd, out_fd, err_fd, channel_fd, gate_fd, init_pidfd};
  if (sk_arrange_descriptors(keep, kArranged, fault) != 0) return -1;
  /* Programs that user code starts must not access the channel. */
  if (fcntl(kChannel, F_SETFD, FD_CLOEXEC) != 0) return sk_fail(fault, SK_STEP_descriptors);
  return sk_close_from(kArranged, fault);
}

static int receive_go(struct sk_go* go, int* fds, struct sk_fault* fault) {
  int fd_count = SK_FDS_MAX;
  ssize_t got = sk_receive(kGate, go, sizeof *go, fds, &fd_count);
  if (got == 0) _exit(0); /* the server no longer needs this session */
  if (got == (ssize_t)sizeof *go && go->bind_count <= SK_BINDS_MAX && go->group_count <= SK_GROUPS_MAX &&
      fd_count == 1 + (int)go->bind_count + (int)go->group_count && go->uid >= rules.uid_first &&
      go->uid <= rules.uid_last && go->uid == init_uid)
    return 0;
  if (got >= 0) errno = EPROTO;
  return sk_fail(fault, SK_STEP_go);
}

static int enter_work_folder(struct sk_fault* fault) {
  umask(0022);
  if (chdir("/mnt/data") != 0) return sk_fail(fault, SK_STEP_work_folder);
  return 0;
}

static int take_steps(int init_pidfd, int gate_fd, int channel_fd, int out_fd, int err_fd, int* listener,
                      struct sk_fault* fault) {
  static struct sk_go go;
  int fds[SK_FDS_MAX];

  /* Steps common to all sessions, done in advance while the session waits in the pool. */
  setsid();
  if (arrange(init_pidfd, gate_fd, channel_fd, out_fd, err_fd, fault) != 0) return -1;
  if (sk_join_session(kInit, rules.layers, fault) != 0) return -1;

  /* Steps specific to this session: the last ones as root (of the machine, or of a user namespace). */
  if (receive_go(&go, fds, fault) != 0) return -1;
  if (sk_join_groups(fds + 1 + go.bind_count, go.group_count, fault) != 0) return -1;
  if (sk_attach_folders(&go, fds, fault) != 0) return -1;
  if (sk_limit_tmp(go.tmp_bytes, fault) != 0) return -1;
  if ((rules.layers & SK_LAYER_CGROUP_NAMESPACE) && sk_enter_cgroup_namespace(fault) != 0) return -1;
  if (enter_work_folder(fault) != 0) return -1;
  if (sk_close_from(kInit, fault) != 0) return -1;
  if (sk_give_way(fault) != 0) return -1;
  if (sk_take_identity(go.uid, go.uid, fault) != 0) return -1;
  if ((rules.layers & SK_LAYER_OWN_USER_NAMESPACE) && sk_enter_own_user_namespace(go.uid, go.uid, fault) != 0)
    return -1;
  if (sk_set_rlimits(&go, fault) != 0) return -1; /* after the user namespace: see rlimits.c */

  /* All privileges end here. */
  if (sk_drop_capabilities(fault) != 0) return -1;
  if (sk_forbid_new_privileges(fault) != 0) return -1;
  sk_limit_speculation();
  if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0)
    return sk_fail(fault, SK_STEP_capabilities); /* /proc/self belongs to the process again */
  if ((rules.layers & SK_LAYER_LANDLOCK) && sk_restrict_with_landlock(fault) != 0) return -1;
  if ((rules.layers & SK_LAYER_SECCOMP) &&
      sk_install_filter_with_listener(filter, filter_instructions, listener, fault) != 0)
    return -1;
  return 0;
}

/* Runs in a new child of the zygote. Returns only in a confined process; otherwise reports the failed step
 * and exits. */
int sk_session_enter(int init_pidfd, int gate_fd, int channel_fd, int out_fd, int err_fd) {
  struct sk_fault fault = {0, 0};
  int listener = -1;
  int failed = take_steps(init_pidfd, gate_fd, channel_fd, out_fd, err_fd, &listener, &fault);
  int told = sk_send(kGate, &fault, sizeof fault, &listener, listener >= 0);
  if (failed || told != 0) _exit(1);
  if (listener >= 0) close(listener); /* who has it could answer for the filter */
  close(kGate);
  return kChannel;
}
