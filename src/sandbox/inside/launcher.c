/* The launcher: a small single-threaded process between the server and its sessions. It holds the privileges
 * for creating a session: those of root, or of root in a user namespace. It also holds the host's mounts as
 * the server sees them, and the prepared root. One per runtime. It serves requests on descriptor 3 and exits
 * when the server does. The first request fixes what later ones may ask for. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

enum { kServer = 3, kProgram = 4, kSetupFds = 3, kZygoteFds = 2 };

static int template_fd = -1;
static struct sk_launcher_request setup; /* the first request */
static int setup_fds[kSetupFds];         /* library, program, filter */
static const char *python, *data_root, *extra_dirs;
static struct sk_fault early_fault; /* of steps before the first request */

/* Runs in a child with its own mounts: builds the root, reports the result, and lives until the parent
 * holds its namespace. */
static void build_in_child(int pipe_fd) {
  struct sk_fault fault = {0, 0};
  if (unshare(CLONE_NEWNS) != 0)
    sk_fail(&fault, SK_STEP_namespaces);
  else
    sk_build_root(setup.path, extra_dirs, setup.extra_count, &fault);
  sk_send(pipe_fd, &fault, sizeof fault, NULL, 0);
  char byte;
  if (read(pipe_fd, &byte, 1) < 0) _exit(1);
  _exit(0);
}

static int open_namespace_of(pid_t pid) {
  char path[64] = "/proc/";
  strcpy(sk_put_number(path + 6, (uint64_t)pid), "/ns/mnt");
  return open(path, O_RDONLY | O_CLOEXEC);
}

static const char* after(const char* text) { return text + strlen(text) + 1; }

/* Keeps the request and its descriptors. Returns -1 when there was one before. */
static int keep_setup(const struct sk_launcher_request* request, const int* fds, int fd_count) {
  errno = EPROTO;
  if (setup.op != 0 || fd_count != kSetupFds) return -1;
  for (int i = 0; i < kSetupFds; ++i)
    if ((setup_fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 10)) < 0) return -1;
  setup = *request;
  python = after(setup.path);
  data_root = after(python);
  extra_dirs = after(data_root);
  return 0;
}

static void set_up(const struct sk_launcher_request* request, const int* fds, int fd_count,
                   struct sk_fault* fault) {
  if (keep_setup(request, fds, fd_count) != 0) {
    sk_fail(fault, SK_STEP_request);
    return;
  }
  if (early_fault.step != 0) {
    *fault = early_fault;
    return;
  }
  if (sk_unshare_own_mounts(setup.layers, fault) != 0) return;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    sk_fail(fault, SK_STEP_root_build);
    return;
  }
  pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    build_in_child(ends[1]);
  }
  close(ends[1]);
  int no_fds = 0;
  if (pid < 0 || sk_receive(ends[0], fault, sizeof *fault, NULL, &no_fds) != (ssize_t)sizeof *fault)
    sk_fail(fault, SK_STEP_root_build);
  else if (fault->step == 0 && (template_fd = open_namespace_of(pid)) < 0)
    sk_fail(fault, SK_STEP_template_join);
  close(ends[0]);
}

static void exec_python(const int* fds) {
  static char* const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                      "LANG=C.UTF-8",
                                      "HOME=/home/user",
                                      "OPENBLAS_NUM_THREADS=1",
                                      "OMP_NUM_THREADS=1",
                                      "MKL_NUM_THREADS=1",
                                      "NUMEXPR_NUM_THREADS=1",
                                      "MPLBACKEND=Agg",
                                      "MPLCONFIGDIR=/var/cache/sandkeep/matplotlib",
                                      "IPYTHONDIR=/home/user/.ipython",
                                      "PYTHONDONTWRITEBYTECODE=1",
                                      NULL};
  struct sk_fault fault = {0, 0};
  /* Keep the server's 0 to 2: nothing is read, and Python's startup errors belong in the server's log. */
  const int keep[] = {0, 1, 2, fds[0], fds[1], setup_fds[0], setup_fds[1], setup_fds[2]};
  enum { kKept = sizeof keep / sizeof *keep };
  char* const arguments[] = {(char*)python, "-I", "-B", "-X", "utf8", "/proc/self/fd/6", NULL};
  if (sk_join_template(template_fd, &fault) == 0 && sk_make_cache_writable(&fault) == 0 &&
      sk_mount_tmp(16 << 20, &fault) == 0 && sk_arrange_descriptors(keep, kKept, &fault) == 0 &&
      sk_close_from(kKept, &fault) == 0) {
    signal(SIGCHLD, SIG_DFL);
    execve(python, arguments, environment);
    sk_fail(&fault, SK_STEP_zygote_exec);
  }
  sk_send(fds[0], &fault, sizeof fault, NULL, 0);
  _exit(1);
}

/* Forks, and returns a pidfd of the child. */
static pid_t fork_with_pidfd(unsigned long flags, int* pidfd) {
  return (pid_t)syscall(SYS_clone, flags | CLONE_PIDFD | SIGCHLD, NULL, pidfd, NULL, NULL);
}

static void start_zygote(const int* fds, int fd_count, struct sk_launcher_reply* reply, int* pidfd) {
  errno = EPROTO;
  if (fd_count != kZygoteFds || template_fd < 0) {
    sk_fail(&reply->fault, SK_STEP_request);
    return;
  }
  reply->pid = fork_with_pidfd(0, pidfd);
  if (reply->pid == 0) exec_python(fds);
  if (reply->pid < 0) sk_fail(&reply->fault, SK_STEP_zygote_exec);
}

static void start_init(const struct sk_launcher_request* request, const int* fds, int fd_count,
                       struct sk_launcher_reply* reply, int* out_fds, int* out_count) {
  errno = EPROTO;
  if (fd_count != 1 || template_fd < 0 || request->uid < setup.uid_first || request->uid > setup.uid_last) {
    sk_fail(&reply->fault, SK_STEP_request);
    return;
  }
  if (setup.layers & SK_LAYER_IDMAP) {
    int idmap = sk_make_idmap_namespace(setup.owner_uid, request->uid, setup.owner_gid, request->uid);
    if (idmap < 0) {
      sk_fail(&reply->fault, SK_STEP_tree_idmap);
      return;
    }
    out_fds[1] = idmap;
    *out_count = 2;
  }
  reply->pid = fork_with_pidfd(sk_namespace_flags(setup.layers), &out_fds[0]);
  if (reply->pid == 0) sk_init_main(fds[0], template_fd, setup.layers, request->uid);
  if (reply->pid > 0) {
    if (*out_count == 0) *out_count = 1;
    return;
  }
  sk_fail(&reply->fault, SK_STEP_clone_init);
  if (*out_count == 2) close(out_fds[1]);
  *out_count = 0;
}

static void serve(const struct sk_launcher_request* request, const int* fds, int fd_count) {
  struct sk_launcher_reply reply = {{0, 0}, 0};
  int out_fds[2] = {-1, -1}, out_count = 0;
  switch (request->op) {
    case SK_OP_SETUP:
      set_up(request, fds, fd_count, &reply.fault);
      break;
    case SK_OP_ZYGOTE:
      start_zygote(fds, fd_count, &reply, &out_fds[0]);
      out_count = reply.fault.step == 0;
      break;
    case SK_OP_INIT:
      start_init(request, fds, fd_count, &reply, out_fds, &out_count);
      break;
    case SK_OP_OPEN_TREE:
      errno = EPROTO;
      if (fd_count >= 1 && template_fd >= 0)
        out_fds[0] = sk_open_tree(request, data_root, fds[0], fd_count > 1 ? fds[1] : -1, &reply.fault);
      else
        sk_fail(&reply.fault, SK_STEP_request);
      out_count = out_fds[0] >= 0;
      break;
    default:
      errno = EPROTO;
      sk_fail(&reply.fault, SK_STEP_request);
  }
  if (sk_send(kServer, &reply, sizeof reply, out_fds, out_count) != 0) _exit(1);
  for (int i = 0; i < out_count; ++i) close(out_fds[i]);
}

/* Without root: becomes root of a user namespace and executes itself again there. A process's memory
 * belongs to the user namespace of its execve(). If that were the host's, the zygote could not enter the
 * namespaces of an init that hides its memory. */
static void enter_outer_user_namespace(void) {
  char step[16], err[16];
  uint32_t uid = (uint32_t)geteuid(), gid = (uint32_t)getegid();
  sk_enter_outer_user_namespace(uid, gid, &early_fault);
  *sk_put_number(step, (uint64_t)early_fault.step) = 0;
  *sk_put_number(err, (uint64_t)early_fault.err) = 0;
  char* const arguments[] = {"sandkeep-launcher", "inside", step, err, NULL};
  char* const environment[] = {NULL};
  syscall(SYS_execveat, kProgram, "", arguments, environment, AT_EMPTY_PATH);
  _exit(127);
}

static int32_t parse_number(const char* text) {
  int32_t value = 0;
  while (*text >= '0' && *text <= '9') value = value * 10 + (*text++ - '0');
  return value;
}

int main(int argc, char** argv) {
  static struct sk_launcher_request request;
  prctl(PR_SET_NAME, "sk-launcher", 0, 0, 0);
  if (argc == 2) enter_outer_user_namespace();
  if (argc == 4) early_fault = (struct sk_fault){parse_number(argv[2]), parse_number(argv[3])};
  close(kProgram);
  syscall(SYS_setgroups, (size_t)0, NULL); /* an ordinary user may not, and keeps its groups */
  setsid();                                /* Ctrl-C in the server's terminal must not reach sessions */
  signal(SIGCHLD, SIG_IGN);
  for (;;) {
    int fds[SK_FDS_MAX], fd_count = SK_FDS_MAX;
    ssize_t got = sk_receive(kServer, &request, sizeof request, fds, &fd_count);
    if (got <= 0) return 0;
    request.path[SK_PATH_MAX - 1] = 0;
    if (got == (ssize_t)sizeof request) serve(&request, fds, fd_count);
    for (int i = 0; i < fd_count; ++i) close(fds[i]);
  }
}
