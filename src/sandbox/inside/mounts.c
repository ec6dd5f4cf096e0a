/* Mounts of one session: its folders from the server, its /proc and its /tmp. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

/* Opens a folder below `root`, without following links out of it. */
static int open_below(const char* root, const char* path) {
  size_t length = strlen(root);
  errno = EXDEV;
  if (strncmp(path, root, length) != 0 || path[length] != '/') return -1;
  int root_fd = open(*root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root_fd < 0) return -1;
  struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                         .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
  int fd = (int)syscall(SYS_openat2, root_fd, path + length + 1, &how, sizeof how);
  int saved = errno;
  close(root_fd);
  errno = saved;
  return fd;
}

/* Creates a detached mount of the folder at request->path, restricted and, if requested, with its owner
 * mapped to the session's user. The folder is looked up in this process's mounts, because the server's
 * cannot be cloned from here. It must be below `data_root`, and the same folder that the server has open. */
int sk_open_tree(const struct sk_launcher_request* request, const char* data_root, int same_fd, int idmap_fd,
                 struct sk_fault* fault) {
  int folder = open_below(data_root, request->path);
  if (folder < 0) return sk_fail(fault, SK_STEP_tree_open);
  int tree = (int)syscall(SYS_open_tree, folder, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
  if (tree < 0) sk_fail(fault, SK_STEP_tree_open);
  close(folder);
  if (tree < 0) return -1;
  struct stat found, wanted;
  if (fstat(tree, &found) != 0 || fstat(same_fd, &wanted) != 0) goto failed_identity;
  if (found.st_dev != wanted.st_dev || found.st_ino != wanted.st_ino) {
    errno = ESTALE;
    goto failed_identity;
  }
  struct mount_attr attributes = {.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV};
  if (request->read_only) attributes.attr_set |= MOUNT_ATTR_RDONLY;
  if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes) != 0) {
    sk_fail(fault, SK_STEP_tree_attributes);
    goto failed;
  }
  if (idmap_fd >= 0) {
    struct mount_attr idmap = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)idmap_fd};
    if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &idmap, sizeof idmap) != 0) {
      sk_fail(fault, SK_STEP_tree_idmap);
      goto failed;
    }
  }
  return tree;
failed_identity:
  sk_fail(fault, SK_STEP_tree_identity);
failed:
  close(tree);
  return -1;
}

/* Mounts a /proc that shows only the session's own processes and nothing else. The prepared root still
 * contains the host's /proc, because the kernel otherwise allows only real root to mount another. It is
 * detached once the new one is mounted. */
int sk_mount_session_proc(struct sk_fault* fault) {
  const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (mount("proc", "/run", "proc", flags, "subset=pid,hidepid=invisible") != 0 ||
      umount2("/proc", MNT_DETACH) != 0 || mount("/run", "/proc", NULL, MS_MOVE, NULL) != 0)
    return sk_fail(fault, SK_STEP_proc_mount);
  return 0;
}

static void tmp_options(char* out, uint64_t bytes) {
  memcpy(out, "mode=1777,size=", 15);
  char* end = sk_put_number(out + 15, bytes);
  memcpy(end, ",nr_inodes=", 11);
  /* A tmpfs inode is kernel memory too. One per 4 KiB is the ratio of a disk. */
  end = sk_put_number(end + 11, bytes / 4096 + 1024);
  *end = 0;
}

int sk_mount_tmp(uint64_t bytes, struct sk_fault* fault) {
  char options[96];
  tmp_options(options, bytes);
  if (mount("tmp", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, options) != 0)
    return sk_fail(fault, SK_STEP_tmp_mount);
  return 0;
}

int sk_limit_tmp(uint64_t bytes, struct sk_fault* fault) {
  char options[96];
  tmp_options(options, bytes);
  if (mount("tmp", "/tmp", "tmpfs", MS_REMOUNT | MS_NOSUID | MS_NODEV, options) != 0)
    return sk_fail(fault, SK_STEP_tmp_limit);
  return 0;
}

/* Returns whether the name is one plain path component. The server has already checked it; check again
 * here. */
static int is_plain_name(const char* name) {
  size_t length = strnlen(name, SK_BIND_NAME_MAX);
  return length > 0 && length < SK_BIND_NAME_MAX && !memchr(name, '/', length) && strcmp(name, ".") != 0 &&
         strcmp(name, "..") != 0;
}

static int attach(int tree, const char* target) {
  return (int)syscall(SYS_move_mount, tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH);
}

int sk_attach_folders(const struct sk_go* go, const int* mount_fds, struct sk_fault* fault) {
  if (go->bind_count > 0) {
    if (mount("mnt", "/mnt", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=755,size=64k") != 0 ||
        mkdir("/mnt/data", 0755) != 0)
      return sk_fail(fault, SK_STEP_bind_mount);
  }
  if (attach(mount_fds[0], "/mnt/data") != 0) return sk_fail(fault, SK_STEP_data_mount);
  for (uint32_t i = 0; i < go->bind_count; ++i) {
    char target[5 + SK_BIND_NAME_MAX] = "/mnt/";
    errno = EINVAL;
    if (!is_plain_name(go->bind_names[i])) return sk_fail(fault, SK_STEP_bind_mount);
    memcpy(target + 5, go->bind_names[i], strlen(go->bind_names[i]) + 1);
    if (mkdir(target, 0755) != 0 || attach(mount_fds[1 + i], target) != 0)
      return sk_fail(fault, SK_STEP_bind_mount);
  }
  if (go->bind_count > 0 &&
      mount(NULL, "/mnt", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) !=
          0)
    return sk_fail(fault, SK_STEP_bind_mount);
  return 0;
}

/* Makes the font cache writable for the zygote, which fills it; sessions only read it. */
int sk_make_cache_writable(struct sk_fault* fault) {
  if (mount(NULL, "/var/cache/sandkeep", NULL, MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV | MS_NOEXEC,
            NULL) != 0)
    return sk_fail(fault, SK_STEP_root_seal);
  return 0;
}
