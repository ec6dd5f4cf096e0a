/* The read-only root shared by all sessions of a runtime: its /usr, the parts of /etc that programs need,
 * five devices, and nothing else. It is built once, in its own mount namespace. Each session starts with a
 * copy of that namespace. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

enum { TREES_MAX = 64, COPY_BYTES_MAX = 4 << 20 };

/* Folders of the runtime's root that become mounts. Only the first must exist. */
static const char* const kFolders[] = {
    "usr",
    "etc/alternatives",
    "etc/fonts",
    "etc/ssl/certs",
    "etc/python3",
    "etc/python3.9",
    "etc/python3.10",
    "etc/python3.11",
    "etc/python3.12",
    "etc/python3.13",
    "etc/ghostscript",
    "etc/ImageMagick-6",
    "etc/texmf",
    "etc/R",
    "etc/perl",
    "etc/java-17-openjdk",
    "var/cache/fontconfig",
    "var/lib/ghostscript",
    "var/lib/texmf",
};

/* Small files are copied, because each mount costs every session a little. None of them may contain a
 * secret. */
static const char* const kFiles[] = {
    "etc/ld.so.cache", "etc/ld.so.conf",   "etc/ssl/openssl.cnf", "etc/mime.types",  "etc/localtime",
    "etc/timezone",    "etc/matplotlibrc", "etc/magic",           "etc/magic.mime",  "etc/protocols",
    "etc/services",    "etc/locale.alias", "etc/debian_version",  "etc/bash.bashrc", "etc/inputrc",
};

static const char* const kDevices[] = {"null", "zero", "full", "random", "urandom"};

/* Top-level entries that are links into /usr on most systems, and folders on some. */
static const char* const kTopLinks[] = {"bin", "sbin", "lib", "lib32", "lib64", "libx32"};

static const struct {
  const char* path;
  const char* text;
} kWritten[] = {
    {"etc/passwd",
     "root:x:0:0:root:/:/usr/sbin/nologin\nuser:x:1000:1000:user:/home/user:/bin/bash\n"
     "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
    {"etc/group", "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n"},
    {"etc/hosts", "127.0.0.1 localhost sandkeep\n"},
    {"etc/hostname", "sandkeep\n"},
    {"etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n"},
    {"etc/resolv.conf", "# A session has no network.\n"},
};

static const struct {
  const char* path;
  const char* target;
} kLinks[] = {
    {"dev/fd", "/proc/self/fd"},
    {"dev/stdin", "/proc/self/fd/0"},
    {"dev/stdout", "/proc/self/fd/1"},
    {"dev/stderr", "/proc/self/fd/2"},
    {"dev/shm", "/tmp/.shm"},
    {"home/user", "/tmp/.home"},
    {"var/tmp", "/tmp"},
    {"etc/mtab", "/proc/self/mounts"},
    {"etc/os-release", "../usr/lib/os-release"},
};

struct tree {
  int fd;
  char target[SK_PATH_MAX];
};

struct root_plan {
  int runtime_fd;
  struct tree trees[TREES_MAX];
  int tree_count;
};

static int mkdir_parents(char* path) {
  for (char* slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    int result = mkdir(path, 0755);
    *slash = '/';
    if (result != 0 && errno != EEXIST) return -1;
  }
  return 0;
}

static int make_folder(const char* path) {
  char copy[SK_PATH_MAX];
  size_t length = strlen(path);
  memcpy(copy, path, length + 1);
  if (mkdir_parents(copy) != 0) return -1;
  return mkdir(copy, 0755) != 0 && errno != EEXIST ? -1 : 0;
}

static int make_file(const char* path, unsigned mode) {
  char copy[SK_PATH_MAX];
  memcpy(copy, path, strlen(path) + 1);
  if (mkdir_parents(copy) != 0) return -1;
  return open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
}

static int write_new_file(const char* path, const char* text) {
  int fd = make_file(path, 0644);
  if (fd < 0) return -1;
  size_t length = strlen(text);
  int ok = write(fd, text, length) == (ssize_t)length;
  close(fd);
  return ok ? 0 : -1;
}

static int add_tree(struct root_plan* plan, int at, const char* path, const char* target,
                    unsigned recursive) {
  if (plan->tree_count == TREES_MAX || strlen(target) >= SK_PATH_MAX) {
    errno = E2BIG;
    return -1;
  }
  int fd = (int)syscall(SYS_open_tree, at, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | recursive);
  if (fd < 0) return -1;
  struct tree* tree = &plan->trees[plan->tree_count++];
  tree->fd = fd;
  memcpy(tree->target, target, strlen(target) + 1);
  return 0;
}

/* Opens the sources while the host's tree is still visible; the new root is mounted over part of it. */
static int open_sources(struct root_plan* plan, const char* runtime_root, const char* extra_dirs,
                        uint32_t extra_count, struct sk_fault* fault) {
  plan->runtime_fd = open(runtime_root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (plan->runtime_fd < 0) return sk_fail(fault, SK_STEP_root_open);
  for (size_t i = 0; i < sizeof kFolders / sizeof *kFolders; ++i)
    if (add_tree(plan, plan->runtime_fd, kFolders[i], kFolders[i], AT_RECURSIVE) != 0 &&
        (i == 0 || errno != ENOENT))
      return sk_fail(fault, SK_STEP_root_open);
  for (size_t i = 0; i < sizeof kTopLinks / sizeof *kTopLinks; ++i) {
    struct stat kind;
    if (fstatat(plan->runtime_fd, kTopLinks[i], &kind, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(kind.st_mode))
      continue;
    if (add_tree(plan, plan->runtime_fd, kTopLinks[i], kTopLinks[i], AT_RECURSIVE) != 0)
      return sk_fail(fault, SK_STEP_root_open);
  }
  for (uint32_t i = 0; i < extra_count; ++i, extra_dirs += strlen(extra_dirs) + 1)
    if (extra_dirs[0] != '/' || add_tree(plan, AT_FDCWD, extra_dirs, extra_dirs + 1, AT_RECURSIVE) != 0)
      return sk_fail(fault, SK_STEP_root_open);
  return 0;
}

static int mount_empty_root(struct sk_fault* fault) {
  static const char* const places[] = {"/tmp", "/mnt", "/var", "/usr"};
  for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
    if (mount("sandkeep", places[i], "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=16m") != 0) continue;
    return chdir(places[i]) == 0 ? 0 : sk_fail(fault, SK_STEP_root_build);
  }
  return sk_fail(fault, SK_STEP_root_build);
}

static int copy_file(int at, const char* path) {
  int from = openat(at, path, O_RDONLY | O_CLOEXEC);
  if (from < 0) return errno == ENOENT || errno == EACCES ? 0 : -1;
  int to = make_file(path, 0644);
  if (to < 0) return -1;
  char buffer[16384];
  ssize_t count, total = 0;
  while ((count = read(from, buffer, sizeof buffer)) > 0 && (total += count) <= COPY_BYTES_MAX)
    if (write(to, buffer, (size_t)count) != count) return -1;
  close(from);
  close(to);
  return count < 0 ? -1 : 0;
}

static int copy_link(int at, const char* path) {
  char target[SK_PATH_MAX];
  ssize_t length = readlinkat(at, path, target, sizeof target - 1);
  if (length < 0) return errno == ENOENT || errno == EINVAL ? 0 : -1;
  target[length] = 0;
  return symlink(target, path);
}

static int fill_root(struct root_plan* plan, struct sk_fault* fault) {
  static const char* const folders[] = {
      "proc", "sys", "run", "tmp", "dev", "mnt/data", "home", "etc/ssl", "var/cache/sandkeep"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i)
    if (make_folder(folders[i]) != 0) return sk_fail(fault, SK_STEP_root_build);
  for (size_t i = 0; i < sizeof kTopLinks / sizeof *kTopLinks; ++i)
    if (copy_link(plan->runtime_fd, kTopLinks[i]) != 0) return sk_fail(fault, SK_STEP_root_build);
  for (size_t i = 0; i < sizeof kFiles / sizeof *kFiles; ++i)
    if (copy_file(plan->runtime_fd, kFiles[i]) != 0) return sk_fail(fault, SK_STEP_root_build);
  for (size_t i = 0; i < sizeof kWritten / sizeof *kWritten; ++i)
    if (write_new_file(kWritten[i].path, kWritten[i].text) != 0) return sk_fail(fault, SK_STEP_root_build);
  for (size_t i = 0; i < sizeof kLinks / sizeof *kLinks; ++i)
    if (symlink(kLinks[i].target, kLinks[i].path) != 0) return sk_fail(fault, SK_STEP_root_build);
  return 0;
}

static int attach_trees(struct root_plan* plan, struct sk_fault* fault) {
  for (int i = 0; i < plan->tree_count; ++i) {
    struct tree* tree = &plan->trees[i];
    struct stat kind;
    if (fstat(tree->fd, &kind) != 0) return sk_fail(fault, SK_STEP_root_bind);
    if (S_ISDIR(kind.st_mode)) {
      if (make_folder(tree->target) != 0) return sk_fail(fault, SK_STEP_root_bind);
    } else {
      close(make_file(tree->target, 0644));
    }
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV};
    if (syscall(SYS_mount_setattr, tree->fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                sizeof attributes) != 0 ||
        syscall(SYS_move_mount, tree->fd, "", AT_FDCWD, tree->target, MOVE_MOUNT_F_EMPTY_PATH) != 0)
      return sk_fail(fault, SK_STEP_root_bind);
    close(tree->fd);
  }
  return 0;
}

/* Binds the devices, because a user namespace may not create device nodes. */
static int attach_devices(struct sk_fault* fault) {
  for (size_t i = 0; i < sizeof kDevices / sizeof *kDevices; ++i) {
    char from[32] = "/dev/", to[32] = "dev/";
    strcat(from, kDevices[i]);
    strcat(to, kDevices[i]);
    close(make_file(to, 0644));
    if (mount(from, to, NULL, MS_BIND, NULL) != 0 ||
        mount(NULL, to, NULL, MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NOEXEC, NULL) != 0)
      return sk_fail(fault, SK_STEP_root_devices);
  }
  return 0;
}

static int pivot_here(struct sk_fault* fault) {
  if (syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
    return sk_fail(fault, SK_STEP_root_pivot);
  return 0;
}

static int seal_root(struct sk_fault* fault) {
  const unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV;
  if (mount(NULL, "/", NULL, flags, NULL) != 0 ||
      mount(NULL, "/var/cache/sandkeep", NULL, flags | MS_NOEXEC, NULL) != 0)
    return sk_fail(fault, SK_STEP_root_seal);
  return 0;
}

int sk_build_root(const char* runtime_root, const char* extra_dirs, uint32_t extra_count,
                  struct sk_fault* fault) {
  static struct root_plan plan;
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return sk_fail(fault, SK_STEP_propagation);
  umask(0022);
  if (open_sources(&plan, runtime_root, extra_dirs, extra_count, fault) != 0) return -1;
  if (add_tree(&plan, AT_FDCWD, "/proc", "proc", AT_RECURSIVE) != 0) return sk_fail(fault, SK_STEP_root_open);
  struct tree proc = plan.trees[--plan.tree_count];
  if (mount_empty_root(fault) != 0 || fill_root(&plan, fault) != 0 || attach_trees(&plan, fault) != 0 ||
      attach_devices(fault) != 0)
    return -1;
  if (syscall(SYS_move_mount, proc.fd, "", AT_FDCWD, "proc", MOVE_MOUNT_F_EMPTY_PATH) != 0)
    return sk_fail(fault, SK_STEP_root_bind);
  close(proc.fd);
  if (mount("cache", "var/cache/sandkeep", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=755,size=64m") !=
      0)
    return sk_fail(fault, SK_STEP_root_build);
  close(plan.runtime_fd);
  if (pivot_here(fault) != 0) return -1;
  return seal_root(fault);
}
