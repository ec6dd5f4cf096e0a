/* Protocol between the server and its child processes before user code runs. Each message is a fixed
 * structure in one packet of a SOCK_SEQPACKET socket, with descriptors attached (SCM_RIGHTS). Included by
 * C++ (the server) and C (launcher, init, session); runtime/sandkeep_runtime/zygote.py mirrors it with
 * struct formats. All sides come from one binary, so there are no versions. */
#ifndef SANDBOX_INSIDE_WIRE_H
#define SANDBOX_INSIDE_WIRE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sk_step {
#define SK_STEP(name, text) SK_STEP_##name,
#include "steps.def"
#undef SK_STEP
  SK_STEP_count
};

enum {
  SK_PATH_MAX = 4096,
  SK_BINDS_MAX = 16,
  SK_BIND_NAME_MAX = 64,
  SK_GROUPS_MAX = 7,
  SK_FDS_MAX = 1 + SK_BINDS_MAX + SK_GROUPS_MAX,
  SK_FILTER_INSTRUCTIONS_MAX = 4096,
  SK_EXTRA_DIRS_MAX = 16,
  /* Refused calls of a session that are counted. Each costs the time of its init, so there is a limit. */
  SK_REFUSALS_COUNTED_MAX = 10000,
  /* User and group id that code inside a session sees. */
  SK_INSIDE_ID = 1000,
};

/* Step 0 means success. Otherwise the failed step and its errno. */
struct sk_fault {
  int32_t step;
  int32_t err;
};

/* Layers of the sandbox that a host may lack. Everything not listed here is always applied. */
enum sk_layer {
  SK_LAYER_OUTER_USER_NAMESPACE = 1u << 0, /* server is not root: first become root of a user namespace */
  SK_LAYER_OWN_USER_NAMESPACE = 1u << 1,   /* user code runs in a user namespace that owns nothing */
  SK_LAYER_NETWORK_NAMESPACE = 1u << 2,
  SK_LAYER_CGROUP_NAMESPACE = 1u << 3,
  SK_LAYER_IPC_UTS_NAMESPACES = 1u << 4,
  SK_LAYER_LANDLOCK = 1u << 5,
  SK_LAYER_SECCOMP = 1u << 6,
  SK_LAYER_MEMORY_WATCH = 1u << 7, /* no memory cgroup: the session's init measures memory and ends it */
  SK_LAYER_IDMAP = 1u << 8,        /* files on disk are not owned by the session's uid */
};

enum sk_launcher_op {
  SK_OP_SETUP = 1,  /* first request, once: create the template for sessions. fds: library, program, filter */
  SK_OP_ZYGOTE = 2, /* fds: socket, reports → pid, fd: pidfd */
  SK_OP_INIT = 3,   /* fds: control → pid, fd: pidfd */
  SK_OP_OPEN_TREE = 4, /* path, fds: the same folder opened by the server → fd: a detached mount of it */
};

/* The process that sends SETUP decides for all that follow. Later requests come from the server, which parses
 * what clients send: they choose among sessions, and cannot weaken one. */
struct sk_launcher_request {
  uint32_t op;
  uint32_t uid;                  /* INIT: user and group id of the session and of its init */
  uint32_t read_only;            /* OPEN_TREE */
  uint32_t layers;               /* SETUP: enum sk_layer */
  uint32_t uid_first, uid_last;  /* SETUP: the ids that sessions may have */
  uint32_t owner_uid, owner_gid; /* SETUP: owner of files on disk */
  uint32_t extra_count;          /* SETUP: number of extra folders */
  /* SETUP: the runtime's root, its Python, the parent of the sessions' folders, then the extra folders, each
   * ended by a zero byte. OPEN_TREE: the folder. */
  char path[SK_PATH_MAX];
};

struct sk_launcher_reply {
  struct sk_fault fault;
  int32_t pid;
};

/* The start of the filter's file, before its instructions: what the zygote applies to every session. */
struct sk_filter_head {
  uint32_t layers;
  uint32_t uid_first, uid_last;
  uint32_t unused;
};

/* Server → zygote. fds: pidfd of init, gate, channel, output, errors. */
struct sk_fork_request {
  uint32_t warm; /* no caller waits: copy memory that the first cells will touch in advance */
};

/* Zygote → server: once with pid 0 when it is ready, then one per request, with a pidfd. */
struct sk_fork_reply {
  struct sk_fault fault;
  int32_t pid;
};

/* Zygote → server, on the report socket: a main process ended with this waitpid() status. */
struct sk_exit_report {
  int32_t pid;
  int32_t status;
};

/* Server → init, on the control socket. Init ends the session when the socket closes. */
enum sk_control_op {
  SK_CONTROL_WATCH = 1,  /* fd: pidfd of the main process; init ends the session when it ends */
  SK_CONTROL_MEMORY = 2, /* memory_bytes: limit above which the session is killed */
  SK_CONTROL_FREEZE = 3,
  SK_CONTROL_THAW = 4,
  SK_CONTROL_REFUSALS = 5, /* fds: listener of the filter, file for the number of refused calls (uint64_t) */
};

struct sk_control {
  uint32_t op;
  uint32_t socket_bytes; /* MEMORY: most that the buffers of one socket can hold */
  uint64_t memory_bytes;
};

/* Init → server. */
enum sk_init_news {
  SK_NEWS_READY = 1,  /* namespaces and mounts are set up, or fault.step failed */
  SK_NEWS_MEMORY = 2, /* the session exceeded its memory limit and was ended */
};

struct sk_init_report {
  uint32_t news;
  struct sk_fault fault;
};

/* Server → main process, on its gate: input of the last privileged steps. fds: mount of the data folder,
 * then one per bind, then one per control group to join. Reply: sk_fault, fd: listener of the filter, where
 * the kernel has them. */
struct sk_go {
  uint32_t uid; /* also the group id */
  uint32_t bind_count;
  uint32_t group_count;
  uint32_t unused;
  uint64_t tmp_bytes;
  uint64_t file_bytes_max;
  uint64_t open_files_max;
  uint64_t processes_max;
  uint64_t data_bytes_max; /* RLIMIT_DATA, 0: none */
  uint64_t cpu_s_max;      /* RLIMIT_CPU, 0: none */
  char bind_names[SK_BINDS_MAX][SK_BIND_NAME_MAX];
};

#ifdef __cplusplus
}
#endif

#endif
