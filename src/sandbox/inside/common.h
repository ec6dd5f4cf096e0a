/* Declarations shared by the C files of this folder. All of this code runs after fork or in
 * single-threaded helper processes: no allocation, no stdio, errors as (step, errno). The library must
 * load with the libc of any runtime, so newer calls use syscall(). */
#ifndef SANDBOX_INSIDE_COMMON_H
#define SANDBOX_INSIDE_COMMON_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire.h"

/* Sets `fault` to `step` and errno. Always returns -1, so callers can return it. */
int sk_fail(struct sk_fault* fault, enum sk_step step);

/* Receives one packet and its descriptors. Returns the size of the packet, 0 at end-of-file, -1 with
 * errno. `fd_count` is the capacity of `fds` on entry and the number received on return; excess
 * descriptors are closed. Received descriptors are close-on-exec. */
ssize_t sk_receive(int socket_fd, void* packet, size_t bytes_max, int* fds, int* fd_count);
int sk_send(int socket_fd, const void* packet, size_t bytes, const int* fds, int fd_count);

/* Writes a short text to an existing file in one write, as /proc and cgroup files require. */
int sk_write_text(const char* path, const char* text, size_t bytes);
/* Reads the beginning of a file, at most `bytes_max` - 1 bytes, and adds a terminating zero. Returns the
 * number of bytes, or -1 with errno. */
ssize_t sk_read_text(const char* path, char* out, size_t bytes_max);
/* Returns the number behind the first `name` in a text, such as "\nPid:" in a file of /proc; 0 if there is
 * none. */
uint64_t sk_number_after(const char* text, const char* name);
/* Writes the decimal digits of `value` to `out` and returns the end. Adds no terminating zero. */
char* sk_put_number(char* out, uint64_t value);

/* namespaces.c */
int sk_map_single_user(uint32_t inside_uid, uint32_t outside_uid, uint32_t inside_gid, uint32_t outside_gid,
                       struct sk_fault* fault, enum sk_step step);
int sk_enter_outer_user_namespace(uint32_t uid, uint32_t gid, struct sk_fault* fault);
int sk_unshare_own_mounts(uint32_t layers, struct sk_fault* fault);
int sk_join_template(int template_fd, struct sk_fault* fault);
/* Checks that the process is the first one of a session that the process `launcher` started, and sets `uid`
 * to its user. Returns -1 with errno, EPERM for any other process. Needs the /proc of the launcher. */
int sk_check_init(int pidfd, pid_t launcher, uint32_t* uid);
int sk_join_session(int init_pidfd, uint32_t layers, struct sk_fault* fault);
int sk_enter_cgroup_namespace(struct sk_fault* fault);
int sk_enter_own_user_namespace(uint32_t uid, uint32_t gid, struct sk_fault* fault);
/* Creates a user namespace that maps owner ids (on disk) to session ids. Returns a descriptor for an
 * id-mapped mount, or -1 with errno. */
int sk_make_idmap_namespace(uint32_t owner_uid, uint32_t uid, uint32_t owner_gid, uint32_t gid);
unsigned long sk_namespace_flags(uint32_t layers);

/* root.c */
int sk_build_root(const char* runtime_root, const char* extra_dirs, uint32_t extra_count,
                  struct sk_fault* fault);

/* mounts.c */
int sk_open_tree(const struct sk_launcher_request* request, const char* data_root, int same_fd, int idmap_fd,
                 struct sk_fault* fault);
int sk_mount_session_proc(struct sk_fault* fault);
int sk_mount_tmp(uint64_t bytes, struct sk_fault* fault);
int sk_limit_tmp(uint64_t bytes, struct sk_fault* fault);
int sk_attach_folders(const struct sk_go* go, const int* mount_fds, struct sk_fault* fault);
int sk_make_cache_writable(struct sk_fault* fault);

/* groups.c, priority.c */
int sk_join_groups(const int* group_fds, uint32_t count, struct sk_fault* fault);
int sk_give_way(struct sk_fault* fault);

/* rlimits.c, users.c, capabilities.c, descriptors.c, landlock.c, seccomp.c */
int sk_set_rlimits(const struct sk_go* go, struct sk_fault* fault);
int sk_take_identity(uint32_t uid, uint32_t gid, struct sk_fault* fault);
int sk_drop_capabilities(struct sk_fault* fault);
int sk_forbid_new_privileges(struct sk_fault* fault);
void sk_limit_speculation(void);
int sk_close_from(int first_fd, struct sk_fault* fault);
/* Moves `count` descriptors to 0, 1, 2, … in order, whatever their current numbers. */
int sk_arrange_descriptors(const int* fds, int count, struct sk_fault* fault);
int sk_restrict_with_landlock(struct sk_fault* fault);
int sk_landlock_abi(void);
int sk_install_filter(const void* instructions, size_t instruction_count, struct sk_fault* fault);
/* Also sets `listener` to a descriptor that tells of refused calls, or to -1 where the kernel has none:
 * refused calls then fail with ENOSYS. */
int sk_install_filter_with_listener(const void* instructions, size_t instruction_count, int* listener,
                                    struct sk_fault* fault);

/* init.c: pid 1 of a session; never returns. Keeps only `control_fd` open. */
void sk_init_main(int control_fd, int template_fd, uint32_t layers, uint32_t uid) __attribute__((noreturn));

#endif
