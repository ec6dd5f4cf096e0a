/* Pid 1 of a session: a small C program that user code cannot touch. It performs the setup that requires a
 * process inside the namespaces, drops every privilege, and then waits. It exits when the main process
 * ends, or when the server's end of the control socket closes (the server ended the session, or died). The
 * kernel then kills all other processes in the namespace. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common.h"

enum { kControl = 0, kTemplate = 1, kTmpBytesBeforeStart = 1 << 20 };

static void report(uint32_t news, struct sk_fault fault) {
  struct sk_init_report packet = {news, fault};
  sk_send(kControl, &packet, sizeof packet, NULL, 0);
}

static int set_hostname(uint32_t layers, struct sk_fault* fault) {
  static const char name[] = "sandkeep";
  if (!(layers & SK_LAYER_IPC_UTS_NAMESPACES)) return 0;
  if (sethostname(name, sizeof name - 1) != 0) return sk_fail(fault, SK_STEP_hostname);
  return 0;
}

/* The steps, in order. After the last, this process can harm nothing but its own session. */
static int set_up(int template_fd, uint32_t layers, uint32_t uid, struct sk_fault* fault) {
  if (sk_join_template(template_fd, fault) != 0) return -1;
  if (sk_mount_session_proc(fault) != 0) return -1;
  if (sk_mount_tmp(kTmpBytesBeforeStart, fault) != 0) return -1;
  if (set_hostname(layers, fault) != 0) return -1;
  if (sk_close_from(kControl + 1, fault) != 0) return -1;
  if (sk_take_identity(uid, uid, fault) != 0) return -1;
  if (sk_drop_capabilities(fault) != 0) return -1;
  if (sk_forbid_new_privileges(fault) != 0) return -1;
  /* Prevents other processes from reading its memory or descriptors. */
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return sk_fail(fault, SK_STEP_capabilities);
  return 0;
}

static size_t read_proc(const char* pid, const char* name, char* out, size_t bytes_max) {
  char path[64] = "/proc/";
  strcat(path, pid);
  strcat(path, name);
  ssize_t count = sk_read_text(path, out, bytes_max);
  return count > 0 ? (size_t)count : 0;
}

typedef uint64_t count_process(const char* pid);

/* Returns all anonymous and shared memory that the process maps, and its page tables. This is cheap, and
 * never less than its share. */
static uint64_t resident_bytes(const char* pid) {
  static char text[4096];
  if (read_proc(pid, "/status", text, sizeof text) == 0) return 0;
  return (sk_number_after(text, "\nRssAnon:") + sk_number_after(text, "\nRssShmem:") +
          sk_number_after(text, "\nVmPTE:"))
         << 10;
}

/* Returns the proportional share of the process, so memory shared with the zygote or with siblings is not
 * counted more than once. */
static uint64_t share_bytes(const char* pid) {
  static char text[4096];
  if (read_proc(pid, "/smaps_rollup", text, sizeof text) == 0) return 0;
  return (sk_number_after(text, "\nPss_Anon:") + sk_number_after(text, "\nPss_Shmem:")) << 10;
}

static uint64_t for_all_processes(count_process* count) {
  static char entries[8192];
  uint64_t total = 0;
  int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return 0;
  long bytes;
  while ((bytes = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0) {
    for (long at = 0; at < bytes;) {
      unsigned short length;
      memcpy(&length, entries + at + 16,
             sizeof length); /* d_reclen of struct linux_dirent64; d_name starts at 19 */
      const char* name = entries + at + 19;
      at += length;
      if (name[0] >= '0' && name[0] <= '9' && strlen(name) <= 10 && strcmp(name, "1") != 0)
        total += count(name);
    }
  }
  close(fd);
  return total;
}

static uint64_t tmp_bytes(void) {
  struct statfs tmp;
  if (statfs("/tmp", &tmp) != 0) return 0;
  return (uint64_t)(tmp.f_blocks - tmp.f_bfree) * (uint64_t)tmp.f_bsize;
}

/* Returns what the buffers of all sockets of the session can hold at most, also of those that only travel in
 * messages. Nothing tells what they hold. */
static uint64_t socket_bytes(uint64_t of_one) {
  static char text[512];
  return read_proc("1", "/net/sockstat", text, sizeof text) == 0
             ? 0
             : sk_number_after(text, "sockets: used") * of_one;
}

struct watch {
  int main_pidfd;
  uint64_t memory_bytes;
  uint64_t socket_bytes;
  int listener; /* of the filter, or -1 */
  int refusals_fd;
  uint64_t refusals;
};

/* Returns the memory use of the session. Exact only where it could exceed the limit. */
static uint64_t session_bytes(const struct watch* watch) {
  uint64_t kernel = tmp_bytes() + socket_bytes(watch->socket_bytes);
  uint64_t at_most = kernel + for_all_processes(resident_bytes);
  return at_most <= watch->memory_bytes ? at_most : kernel + for_all_processes(share_bytes);
}

static void end_session(void) { _exit(0); }

/* Refuses a call that the filter left to this process, and counts it. After the last that is counted, the
 * kernel refuses them by itself, with ENOSYS. */
static void refuse_call(struct watch* watch) {
  union {
    struct seccomp_notif packet;
    char space[512]; /* a newer kernel's is larger */
  } call;
  memset(&call, 0, sizeof call);
  if (ioctl(watch->listener, SECCOMP_IOCTL_NOTIF_RECV, &call) == 0) {
    union {
      struct seccomp_notif_resp packet;
      char space[512];
    } answer;
    memset(&answer, 0, sizeof answer);
    answer.packet.id = call.packet.id;
    answer.packet.error = -EPERM;
    ++watch->refusals;
    if (pwrite(watch->refusals_fd, &watch->refusals, sizeof watch->refusals, 0) < 0) end_session();
    ioctl(watch->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    if (watch->refusals < SK_REFUSALS_COUNTED_MAX) return;
  } else if (errno == EINTR || errno == ENOENT) {
    return; /* the caller was killed meanwhile */
  }
  close(watch->listener);
  watch->listener = -1;
}

static void obey(struct watch* watch) {
  struct sk_control packet;
  int fds[2], fd_count = 2;
  ssize_t got = sk_receive(kControl, &packet, sizeof packet, fds, &fd_count);
  if (got != (ssize_t)sizeof packet) end_session();
  switch (packet.op) {
    case SK_CONTROL_WATCH:
      if (fd_count == 1) watch->main_pidfd = fds[0];
      break;
    case SK_CONTROL_MEMORY:
      watch->memory_bytes = packet.memory_bytes;
      watch->socket_bytes = packet.socket_bytes;
      break;
    case SK_CONTROL_REFUSALS:
      if (fd_count != 2) break;
      watch->listener = fds[0];
      watch->refusals_fd = fds[1];
      break;
    case SK_CONTROL_FREEZE:
      kill(-1, SIGSTOP);
      break;
    case SK_CONTROL_THAW:
      kill(-1, SIGCONT);
      break;
    default:
      end_session();
  }
}

/* Returns the time until the next check. A process can fill memory at a few GiB/s, so checks become more
 * frequent near the limit. A session whose memory does not change is probably idle and is checked less
 * often. */
static int next_look_ms(uint64_t used, uint64_t limit, int unchanged_looks) {
  uint64_t left_ms = used >= limit ? 0 : ((limit - used) >> 20) / 4;
  int wait_ms = left_ms < 20 ? 20 : left_ms > 250 ? 250 : (int)left_ms;
  return unchanged_looks > 4 ? wait_ms * 4 : wait_ms;
}

static void watch_over(void) {
  struct watch watch = {-1, 0, 0, -1, -1, 0};
  uint64_t used = 0;
  int unchanged_looks = 0;
  for (;;) {
    /* poll() ignores negative descriptors. */
    struct pollfd waits[3] = {
        {kControl, POLLIN, 0}, {watch.main_pidfd, POLLIN, 0}, {watch.listener, POLLIN, 0}};
    int timeout_ms = watch.memory_bytes ? next_look_ms(used, watch.memory_bytes, unchanged_looks) : -1;
    int ready = poll(waits, 3, timeout_ms);
    if (ready < 0 && errno != EINTR) end_session();
    if (ready > 0 && waits[0].revents) obey(&watch);
    if (ready > 0 && waits[1].revents) end_session();
    if (ready > 0 && waits[2].revents) refuse_call(&watch);
    if (ready != 0 || watch.memory_bytes == 0) continue;
    uint64_t before = used;
    used = session_bytes(&watch);
    unchanged_looks = used == before ? unchanged_looks + 1 : 0;
    if (used <= watch.memory_bytes) continue;
    report(SK_NEWS_MEMORY, (struct sk_fault){0, 0});
    end_session();
  }
}

void sk_init_main(int control_fd, int template_fd, uint32_t layers, uint32_t uid) {
  struct sk_fault fault = {0, 0};
  const int keep[] = {control_fd, template_fd};
  prctl(PR_SET_NAME, "sk-init", 0, 0, 0);
  /* Let the kernel reap orphans. */
  signal(SIGCHLD, SIG_IGN);
  if (sk_arrange_descriptors(keep, 2, &fault) != 0) _exit(1);
  int failed = set_up(kTemplate, layers, uid, &fault);
  report(SK_NEWS_READY, fault);
  if (!failed) watch_over();
  _exit(1);
}
