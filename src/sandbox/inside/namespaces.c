/* Namespaces: which ones a session gets, and how its processes enter them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif

unsigned long sk_namespace_flags(uint32_t layers) {
  unsigned long flags = CLONE_NEWPID;
  if (layers & SK_LAYER_NETWORK_NAMESPACE) flags |= CLONE_NEWNET;
  if (layers & SK_LAYER_IPC_UTS_NAMESPACES) flags |= CLONE_NEWIPC | CLONE_NEWUTS;
  return flags;
}

static size_t map_line(char* out, uint32_t inside, uint32_t outside) {
  char* end = sk_put_number(out, inside);
  *end++ = ' ';
  end = sk_put_number(end, outside);
  *end++ = ' ';
  *end++ = '1';
  *end++ = '\n';
  return (size_t)(end - out);
}

/* Maps one id, which is all that an unprivileged process may map and all that a session needs. */
int sk_map_single_user(uint32_t inside_uid, uint32_t outside_uid, uint32_t inside_gid, uint32_t outside_gid,
                       struct sk_fault* fault, enum sk_step step) {
  char line[64];
  if (sk_write_text("/proc/self/setgroups", "deny", 4) != 0 && errno != ENOENT) return sk_fail(fault, step);
  size_t bytes = map_line(line, inside_uid, outside_uid);
  if (sk_write_text("/proc/self/uid_map", line, bytes) != 0) return sk_fail(fault, step);
  bytes = map_line(line, inside_gid, outside_gid);
  if (sk_write_text("/proc/self/gid_map", line, bytes) != 0) return sk_fail(fault, step);
  return 0;
}

int sk_enter_outer_user_namespace(uint32_t uid, uint32_t gid, struct sk_fault* fault) {
  if (unshare(CLONE_NEWUSER) != 0) return sk_fail(fault, SK_STEP_user_namespace);
  return sk_map_single_user(0, uid, 0, gid, fault, SK_STEP_user_map);
}

/* Gives the launcher and the zygote their own mounts, and no network, which they do not need either. Later
 * mounts on the host still propagate here, but none propagate back. */
int sk_unshare_own_mounts(uint32_t layers, struct sk_fault* fault) {
  unsigned long flags = CLONE_NEWNS;
  if (layers & SK_LAYER_NETWORK_NAMESPACE) flags |= CLONE_NEWNET;
  if (layers & SK_LAYER_IPC_UTS_NAMESPACES) flags |= CLONE_NEWIPC | CLONE_NEWUTS;
  if (unshare((int)flags) != 0) return sk_fail(fault, SK_STEP_namespaces);
  if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0) return sk_fail(fault, SK_STEP_propagation);
  return 0;
}

/* Enters the prepared root with a private copy of its mounts, so later mounts are visible to no other
 * process. */
int sk_join_template(int template_fd, struct sk_fault* fault) {
  if (setns(template_fd, CLONE_NEWNS) != 0) return sk_fail(fault, SK_STEP_template_join);
  if (unshare(CLONE_NEWNS) != 0) return sk_fail(fault, SK_STEP_template_join);
  return 0;
}

static int is_child_init(const char* status, pid_t pid, pid_t launcher) {
  /* "NSpid: PID 1": pid 1 of a namespace directly below this one. */
  char wanted[64] = "\nNSpid:\t";
  char* end = sk_put_number(wanted + 8, (uint64_t)pid);
  memcpy(end, "\t1\n", 4);
  return sk_number_after(status, "\nPPid:") == (uint64_t)launcher && strstr(status, wanted) != NULL;
}

/* No other child of a launcher has a pid namespace, and processes in a session never become its children: the
 * kernel gives orphans to the session's init. */
int sk_check_init(int pidfd, pid_t launcher, uint32_t* uid) {
  static char text[4096];
  char path[64] = "/proc/self/fdinfo/";
  *sk_put_number(path + strlen(path), (uint64_t)pidfd) = 0;
  if (sk_read_text(path, text, sizeof text) < 0) return -1;
  pid_t pid = (pid_t)sk_number_after(text, "\nPid:");
  memcpy(path, "/proc/", 6);
  strcpy(sk_put_number(path + 6, (uint64_t)pid), "/status");
  if (pid > 0 && sk_read_text(path, text, sizeof text) < 0) return -1;
  /* A process that is still there had this pid when its status was read. */
  struct pollfd alive = {pidfd, POLLIN, 0};
  if (pid <= 0 || !is_child_init(text, pid, launcher) || poll(&alive, 1, 0) != 0) {
    errno = EPERM;
    return -1;
  }
  *uid = (uint32_t)sk_number_after(text, "\nUid:");
  return 0;
}

/* Joins all namespaces except the pid namespace, which a process enters by being forked into it (by the
 * zygote). */
int sk_join_session(int init_pidfd, uint32_t layers, struct sk_fault* fault) {
  unsigned long flags = (sk_namespace_flags(layers) & ~(unsigned long)CLONE_NEWPID) | CLONE_NEWNS;
  if (setns(init_pidfd, (int)flags) != 0) return sk_fail(fault, SK_STEP_join);
  return 0;
}

/* Call once the process is in its control group, so this group becomes its visible root. */
int sk_enter_cgroup_namespace(struct sk_fault* fault) {
  if (unshare(CLONE_NEWCGROUP) != 0) return sk_fail(fault, SK_STEP_cgroup_namespace);
  return 0;
}

/* Enters a user namespace that owns none of the session's other namespaces, so capabilities gained in it
 * would be useless. The caller already has the session's user id and has kept its capabilities, because
 * some hosts refuse this call without them. */
int sk_enter_own_user_namespace(uint32_t uid, uint32_t gid, struct sk_fault* fault) {
  /* Changing ids made /proc/self owned by root. */
  if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) return sk_fail(fault, SK_STEP_own_user_namespace);
  if (unshare(CLONE_NEWUSER) != 0) return sk_fail(fault, SK_STEP_own_user_namespace);
  if (sk_map_single_user(SK_INSIDE_ID, uid, SK_INSIDE_ID, gid, fault, SK_STEP_own_user_namespace) != 0)
    return -1;
  /* Any process may write the project id map, once. If this write fails, no later one can succeed. */
  char line[64];
  sk_write_text("/proc/self/projid_map", line, map_line(line, SK_INSIDE_ID, SK_INSIDE_ID));
  return 0;
}

static char* proc_path(char* out, pid_t pid, const char* name) {
  memcpy(out, "/proc/", 6);
  char* end = sk_put_number(out + 6, (uint64_t)pid);
  strcpy(end, name);
  return out;
}

int sk_make_idmap_namespace(uint32_t owner_uid, uint32_t uid, uint32_t owner_gid, uint32_t gid) {
  pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
  if (pid == 0)
    for (;;) pause();
  if (pid < 0) return -1;
  char path[64], line[64];
  int fd = -1;
  size_t bytes = map_line(line, owner_uid, uid);
  if (sk_write_text(proc_path(path, pid, "/uid_map"), line, bytes) == 0) {
    bytes = map_line(line, owner_gid, gid);
    if (sk_write_text(proc_path(path, pid, "/gid_map"), line, bytes) == 0)
      fd = open(proc_path(path, pid, "/ns/user"), O_RDONLY | O_CLOEXEC);
  }
  int saved = errno;
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0); /* ECHILD once it has exited, as the launcher ignores SIGCHLD */
  errno = saved;
  return fd;
}
