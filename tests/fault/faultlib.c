// Makes chosen file operations of a program fail, or kills it at one of them: the program is run with this
// library in LD_PRELOAD, once for each N, and afterwards what it acknowledged is checked. Only operations on
// paths below $FAULT_DIR count.
//
//   FAULT_DIR     the folder to watch; without it the library does nothing
//   FAULT_OP      which operations count, separated by commas; all when unset:
//                   write     write, pwrite, writev, pwritev, pwritev2, sendfile, copy_file_range (towards
//                   the folder) fsync     fsync, fdatasync rename    rename, renameat, renameat2 truncate
//                   truncate, ftruncate create    open and openat with O_CREAT or O_TMPFILE, creat unlink
//                   unlink, unlinkat, rmdir, remove link      link, linkat, symlink, symlinkat allocate
//                   fallocate, posix_fallocate mkdir     mkdir, mkdirat
//   FAULT_N       the operation to fail, counted from 1; unset or 0: none, only count
//   FAULT_ERRNO   what it fails with: EIO (default), ENOSPC, EDQUOT, EMFILE, EACCES, EROFS, EINTR, or a
//   number FAULT_SHORT   1: a write of more than one byte that is to fail writes its first half and says so
//   instead FAULT_STICKY  1: all counted operations from the N-th on fail, as on a disk that is full or gone
//   FAULT_KILL    1: SIGKILL instead of failing, before the operation; with FAULT_SHORT=1, after the first
//   half of a write FAULT_REPORT  a file (outside the folder) whose first line always is the count so far, 12
//   digits, and whose second, once it
//                 happened, is "hit OPERATION PATH"; up to date also when the program was killed
//
//   FAULT_SKIP    1: an fsync that is to fail is left out and said to have worked, as if the program had not
//   called it
//
//   FAULT_RECORD  a file (outside the folder) to which every operation below the folder is appended when it
//   ends, whether it counts or not, as one line of fields that are separated by tabs: BEGIN END THREAD NAME
//   RESULT PATH OTHER-PATH. BEGIN and END are times of one clock that all threads share: an operation
//   precedes another if its END is less than the other's BEGIN. NAME is "create", "write", "fsync", "rename"
//   and so on; or "answer" for the first bytes of an HTTP answer, whose status is RESULT; or "mark" for a
//   call of fault_mark(). tests/e2e/operation_order.py reads it.
//
// A driver counts first (FAULT_N=0), then runs with N = 1, 2, … until the report has no second line.
// Only the process that loaded the library is affected: it removes LD_PRELOAD and FAULT_* from its
// environment, and a forked child is let alone. What a C library does inside itself (stdio's buffers) is not
// seen. A program built with AddressSanitizer wants its runtime first: LD_PRELOAD="libasan.so libfault.so".
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE  // its inline wrappers have the names that are defined here
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum operation {
  op_write,
  op_fsync,
  op_rename,
  op_truncate,
  op_create,
  op_unlink,
  op_link,
  op_allocate,
  op_mkdir,
  op_count
};

static const char* const operation_names[op_count] = {"write",  "fsync", "rename",   "truncate", "create",
                                                      "unlink", "link",  "allocate", "mkdir"};

// Constant after load().
static bool active;
static pid_t owner;
static char given_dir[PATH_MAX];     // as FAULT_DIR says it
static char resolved_dir[PATH_MAX];  // without symbolic links, as the kernel says it
static bool counted[op_count];
static long fail_at;
static int fail_errno = EIO;
static bool short_writes, sticky, kills, skips;
static int report_fd = -1;
static int record_fd = -1;

static atomic_long count;
static atomic_bool was_hit;
static atomic_long record_clock;

static int errno_named(const char* text) {
  static const struct {
    const char* name;
    int value;
  } known[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EMFILE", EMFILE},
               {"EACCES", EACCES}, {"EROFS", EROFS},   {"EINTR", EINTR}};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (strcmp(text, known[i].name) == 0) return known[i].value;
  return atoi(text);
}

static bool is_one(const char* name) {
  const char* value = getenv(name);
  return value != NULL && strcmp(value, "1") == 0;
}

static bool list_has(const char* list, const char* name) {
  const size_t length = strlen(name);
  for (const char* item = list; item != NULL; item = strchr(item, ',')) {
    item += *item == ',';
    if (strncmp(item, name, length) == 0 && (item[length] == ',' || item[length] == '\0')) return true;
  }
  return false;
}

static void choose_operations(const char* list) {
  for (int i = 0; i < op_count; ++i)
    counted[i] = list == NULL || *list == '\0' || list_has(list, operation_names[i]);
}

static void report_count(long value) {
  char text[32];
  const int length = snprintf(text, sizeof text, "%012ld\n", value);
  if (report_fd >= 0) syscall(SYS_pwrite64, report_fd, text, (size_t)length, 0L);
}

static void report_hit(enum operation operation, const char* path) {
  char text[PATH_MAX + 64];
  const int length = snprintf(text, sizeof text, "hit %s %s\n", operation_names[operation], path);
  if (report_fd >= 0) syscall(SYS_pwrite64, report_fd, text, (size_t)length, 13L);
}

__attribute__((constructor)) static void load(void) {
  const char* dir = getenv("FAULT_DIR");
  if (dir == NULL || *dir == '\0') return;
  snprintf(given_dir, sizeof given_dir, "%s", dir);
  if (realpath(dir, resolved_dir) == NULL) snprintf(resolved_dir, sizeof resolved_dir, "%s", dir);
  choose_operations(getenv("FAULT_OP"));
  const char* n = getenv("FAULT_N");
  fail_at = n == NULL ? 0 : atol(n);
  const char* error = getenv("FAULT_ERRNO");
  if (error != NULL && *error != '\0') fail_errno = errno_named(error);
  short_writes = is_one("FAULT_SHORT");
  sticky = is_one("FAULT_STICKY");
  kills = is_one("FAULT_KILL");
  skips = is_one("FAULT_SKIP");
  const char* report = getenv("FAULT_REPORT");
  if (report != NULL && *report != '\0')
    report_fd = (int)syscall(SYS_openat, AT_FDCWD, report, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  report_count(0);
  const char* record = getenv("FAULT_RECORD");
  if (record != NULL && *record != '\0')
    record_fd = (int)syscall(SYS_openat, AT_FDCWD, record, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  static const char* const variables[] = {"LD_PRELOAD",   "FAULT_DIR",    "FAULT_OP",     "FAULT_N",
                                          "FAULT_ERRNO",  "FAULT_SHORT",  "FAULT_STICKY", "FAULT_KILL",
                                          "FAULT_REPORT", "FAULT_RECORD", "FAULT_SKIP"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i) unsetenv(variables[i]);
  owner = getpid();
  active = true;
}

static bool is_below(const char* path, const char* dir) {
  const size_t length = strlen(dir);
  return strncmp(path, dir, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

// The path of an open file, or an empty text.
static void path_of_fd(int fd, char out[PATH_MAX]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const long length = syscall(SYS_readlinkat, AT_FDCWD, link, out, PATH_MAX - 1);
  out[length > 0 ? length : 0] = '\0';
}

static void path_of_name(int dir_fd, const char* name, char out[PATH_MAX]) {
  if (name[0] == '/') {
    snprintf(out, PATH_MAX, "%s", name);
    return;
  }
  char dir[PATH_MAX];
  if (dir_fd == AT_FDCWD) {
    if (getcwd(dir, sizeof dir) == NULL) dir[0] = '\0';
  } else {
    path_of_fd(dir_fd, dir);
  }
  const size_t length = strlen(dir);
  const size_t name_length = strlen(name);
  out[0] = '\0';
  if (length + 1 + name_length + 1 > PATH_MAX) return;
  memcpy(out, dir, length);
  out[length] = '/';
  memcpy(out + length + 1, name, name_length + 1);
}

// Counts one operation on `path`; true when it is to go wrong.
static bool goes_wrong_at(enum operation operation, const char* path) {
  if (!is_below(path, given_dir) && !is_below(path, resolved_dir)) return false;
  const long number = atomic_fetch_add(&count, 1) + 1;
  report_count(number);
  if (fail_at == 0 || number < fail_at || (number > fail_at && !sticky)) return false;
  if (!atomic_exchange(&was_hit, true)) report_hit(operation, path);
  if (kills && !(short_writes && operation == op_write)) kill(owner, SIGKILL);
  return true;
}

static bool is_counted(enum operation operation) { return active && counted[operation] && getpid() == owner; }

static bool name_goes_wrong(enum operation operation, int dir_fd, const char* name) {
  if (!is_counted(operation) || name == NULL) return false;
  const int saved = errno;
  char path[PATH_MAX];
  path_of_name(dir_fd, name, path);
  const bool wrong = goes_wrong_at(operation, path);
  errno = wrong ? fail_errno : saved;
  return wrong;
}

static bool fd_goes_wrong(enum operation operation, int fd) {
  if (!is_counted(operation)) return false;
  const int saved = errno;
  char path[PATH_MAX];
  path_of_fd(fd, path);
  const bool wrong = goes_wrong_at(operation, path);
  errno = wrong ? fail_errno : saved;
  return wrong;
}

// The record. A name is written as the kernel would say it, below resolved_dir.

static bool records(void) { return active && record_fd >= 0 && getpid() == owner; }

static long begin_record(void) { return records() ? atomic_fetch_add(&record_clock, 1) + 1 : 0; }

static bool resolve(char path[PATH_MAX]) {
  if (is_below(path, resolved_dir)) return true;
  if (!is_below(path, given_dir)) return false;
  char rest[PATH_MAX];
  snprintf(rest, sizeof rest, "%s", path + strlen(given_dir));
  const int length = snprintf(path, PATH_MAX, "%s%s", resolved_dir, rest);
  return length < PATH_MAX;
}

static void append_record(long begin, const char* name, long result, const char* path, const char* other) {
  char text[2 * PATH_MAX + 128];
  const long end = atomic_fetch_add(&record_clock, 1) + 1;
  const int length = snprintf(text, sizeof text, "%ld\t%ld\t%ld\t%s\t%ld\t%s\t%s\n", begin, end,
                              (long)syscall(SYS_gettid), name, result, path, other);
  syscall(SYS_write, record_fd, text, (size_t)length);
}

// These return `result`, with errno as it was.
static long end_fd_record(long begin, const char* name, int fd, long result) {
  if (begin == 0) return result;
  const int saved = errno;
  char path[PATH_MAX];
  path_of_fd(fd, path);
  if (resolve(path)) append_record(begin, name, result, path, "");
  errno = saved;
  return result;
}

static long end_name_record(long begin, const char* name, int dir_fd, const char* at, long result) {
  if (begin == 0) return result;
  const int saved = errno;
  char path[PATH_MAX];
  path_of_name(dir_fd, at, path);
  if (resolve(path)) append_record(begin, name, result, path, "");
  errno = saved;
  return result;
}

static long end_two_names_record(long begin, const char* name, int from_dir, const char* from, int to_dir,
                                 const char* to, long result) {
  if (begin == 0) return result;
  const int saved = errno;
  char path[PATH_MAX], other[PATH_MAX];
  path_of_name(from_dir, from, path);
  path_of_name(to_dir, to, other);
  const bool below = resolve(path);
  if (resolve(other) || below) append_record(begin, name, result, path, other);
  errno = saved;
  return result;
}

// For programs without HTTP: what they acknowledge, and when. They declare it as a weak symbol.
__attribute__((visibility("default"))) void fault_mark(const char* text) {
  if (records()) append_record(begin_record(), "mark", 0, text, "");
}

// Before the bytes go out, so that everything that ends later is too late for them.
static void record_answer(int fd, const void* data, size_t size) {
  static const char version[] = "HTTP/1.1 ";
  if (!records() || size < sizeof version + 3 || memcmp(data, version, sizeof version - 1) != 0) return;
  const int saved = errno;
  char path[PATH_MAX];
  path_of_fd(fd, path);
  if (strncmp(path, "socket:", 7) == 0)
    append_record(begin_record(), "answer", atol((const char*)data + sizeof version - 1), path, "");
  errno = saved;
}

// How a write that is to go wrong ends, `half` being the first half of its bytes and `offset` -1 for the
// file's own position.
static ssize_t write_wrongly(int fd, const void* half, size_t half_size, off_t offset) {
  if (!short_writes || half_size == 0) {
    if (kills) kill(owner, SIGKILL);
    errno = fail_errno;
    return -1;
  }
  const ssize_t written = offset < 0 ? syscall(SYS_write, fd, half, half_size)
                                     : syscall(SYS_pwrite64, fd, half, half_size, offset);
  if (kills) kill(owner, SIGKILL);
  return written;
}

ssize_t write(int fd, const void* data, size_t size) {
  if (fd_goes_wrong(op_write, fd)) return write_wrongly(fd, data, size / 2, -1);
  record_answer(fd, data, size);
  const long begin = begin_record();
  return end_fd_record(begin, "write", fd, syscall(SYS_write, fd, data, size));
}

ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) {
  if (fd_goes_wrong(op_write, fd)) return write_wrongly(fd, data, size / 2, offset);
  const long begin = begin_record();
  return end_fd_record(begin, "write", fd, syscall(SYS_pwrite64, fd, data, size, offset));
}
ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  return pwrite64(fd, data, size, offset);
}

// The first half of a vector is that of its first part.
ssize_t writev(int fd, const struct iovec* parts, int part_count) {
  if (fd_goes_wrong(op_write, fd))
    return write_wrongly(fd, part_count > 0 ? parts->iov_base : NULL, part_count > 0 ? parts->iov_len / 2 : 0,
                         -1);
  if (part_count > 0) record_answer(fd, parts->iov_base, parts->iov_len);
  const long begin = begin_record();
  return end_fd_record(begin, "write", fd, syscall(SYS_writev, fd, parts, part_count));
}

ssize_t pwritev64v2(int fd, const struct iovec* parts, int part_count, off64_t offset, int flags) {
  if (fd_goes_wrong(op_write, fd))
    return write_wrongly(fd, part_count > 0 ? parts->iov_base : NULL, part_count > 0 ? parts->iov_len / 2 : 0,
                         offset);
  const long begin = begin_record();
  return end_fd_record(begin, "write", fd, syscall(SYS_pwritev2, fd, parts, part_count, offset, 0L, flags));
}
ssize_t pwritev2(int fd, const struct iovec* parts, int part_count, off_t offset, int flags) {
  return pwritev64v2(fd, parts, part_count, offset, flags);
}
ssize_t pwritev64(int fd, const struct iovec* parts, int part_count, off64_t offset) {
  return pwritev64v2(fd, parts, part_count, offset, 0);
}
ssize_t pwritev(int fd, const struct iovec* parts, int part_count, off_t offset) {
  return pwritev64v2(fd, parts, part_count, offset, 0);
}

ssize_t sendfile64(int out_fd, int in_fd, off64_t* offset, size_t size) {
  if (fd_goes_wrong(op_write, out_fd)) return write_wrongly(out_fd, NULL, 0, -1);
  const long begin = begin_record();
  return end_fd_record(begin, "write", out_fd, syscall(SYS_sendfile, out_fd, in_fd, offset, size));
}
ssize_t sendfile(int out_fd, int in_fd, off_t* offset, size_t size) {
  return sendfile64(out_fd, in_fd, offset, size);
}

ssize_t copy_file_range(int in_fd, off64_t* in_offset, int out_fd, off64_t* out_offset, size_t size,
                        unsigned flags) {
  if (fd_goes_wrong(op_write, out_fd)) return write_wrongly(out_fd, NULL, 0, -1);
  const long begin = begin_record();
  return end_fd_record(begin, "write", out_fd,
                       syscall(SYS_copy_file_range, in_fd, in_offset, out_fd, out_offset, size, flags));
}

// Answers leave by these.
ssize_t send(int fd, const void* data, size_t size, int flags) {
  record_answer(fd, data, size);
  return syscall(SYS_sendto, fd, data, size, flags, NULL, 0);
}
ssize_t sendto(int fd, const void* data, size_t size, int flags, __CONST_SOCKADDR_ARG to, socklen_t length) {
  record_answer(fd, data, size);
  return syscall(SYS_sendto, fd, data, size, flags, to.__sockaddr__, length);
}
ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  if (message->msg_iovlen > 0) record_answer(fd, message->msg_iov->iov_base, message->msg_iov->iov_len);
  return syscall(SYS_sendmsg, fd, message, flags);
}

int fsync(int fd) {
  if (fd_goes_wrong(op_fsync, fd)) return skips ? 0 : -1;
  const long begin = begin_record();
  return (int)end_fd_record(begin, "fsync", fd, syscall(SYS_fsync, fd));
}
int fdatasync(int fd) {
  if (fd_goes_wrong(op_fsync, fd)) return skips ? 0 : -1;
  const long begin = begin_record();
  return (int)end_fd_record(begin, "fdatasync", fd, syscall(SYS_fdatasync, fd));
}
// Recorded only: neither makes a file's bytes durable in a way that anything here counts on.
int sync_file_range(int fd, off64_t offset, off64_t size, unsigned flags) {
  const long begin = begin_record();
  return (int)end_fd_record(begin, "sync_file_range", fd,
                            syscall(SYS_sync_file_range, fd, offset, size, flags));
}
int syncfs(int fd) {
  const long begin = begin_record();
  return (int)end_fd_record(begin, "syncfs", fd, syscall(SYS_syncfs, fd));
}

int renameat2(int from_dir, const char* from, int to_dir, const char* to, unsigned flags) {
  if (name_goes_wrong(op_rename, to_dir, to)) return -1;
  const long begin = begin_record();
  return (int)end_two_names_record(begin, "rename", from_dir, from, to_dir, to,
                                   syscall(SYS_renameat2, from_dir, from, to_dir, to, flags));
}
int renameat(int from_dir, const char* from, int to_dir, const char* to) {
  return renameat2(from_dir, from, to_dir, to, 0);
}
int rename(const char* from, const char* to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

int ftruncate64(int fd, off64_t size) {
  if (fd_goes_wrong(op_truncate, fd)) return -1;
  const long begin = begin_record();
  return (int)end_fd_record(begin, "truncate", fd, syscall(SYS_ftruncate, fd, size));
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }
int truncate64(const char* path, off64_t size) {
  if (name_goes_wrong(op_truncate, AT_FDCWD, path)) return -1;
  const long begin = begin_record();
  return (int)end_name_record(begin, "truncate", AT_FDCWD, path, syscall(SYS_truncate, path, size));
}
int truncate(const char* path, off_t size) { return truncate64(path, size); }

static bool creates(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

static int open_with_mode(int dir_fd, const char* path, int flags, mode_t mode) {
  if (creates(flags) && name_goes_wrong(op_create, dir_fd, path)) return -1;
  const bool changes = creates(flags) || (flags & O_TRUNC) != 0;
  const bool is_new = changes && records() && syscall(SYS_faccessat, dir_fd, path, F_OK) != 0;
  const long begin = changes ? begin_record() : 0;
  const long fd = syscall(SYS_openat, dir_fd, path, flags, mode);
  if (fd >= 0 && is_new) end_name_record(begin, "create", dir_fd, path, fd);
  if (fd >= 0 && !is_new && (flags & O_TRUNC) != 0) end_name_record(begin, "truncate", dir_fd, path, fd);
  return (int)fd;
}

#define MODE_ARGUMENT(mode, flags)    \
  mode_t mode = 0;                    \
  if (creates(flags)) {               \
    va_list arguments;                \
    va_start(arguments, flags);       \
    mode = va_arg(arguments, mode_t); \
    va_end(arguments);                \
  }

int open(const char* path, int flags, ...) {
  MODE_ARGUMENT(mode, flags)
  return open_with_mode(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  MODE_ARGUMENT(mode, flags)
  return open_with_mode(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}
int openat(int dir_fd, const char* path, int flags, ...) {
  MODE_ARGUMENT(mode, flags)
  return open_with_mode(dir_fd, path, flags, mode);
}
int openat64(int dir_fd, const char* path, int flags, ...) {
  MODE_ARGUMENT(mode, flags)
  return open_with_mode(dir_fd, path, flags | O_LARGEFILE, mode);
}
int creat(const char* path, mode_t mode) {
  return open_with_mode(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
int creat64(const char* path, mode_t mode) { return creat(path, mode); }

int unlinkat(int dir_fd, const char* path, int flags) {
  if (name_goes_wrong(op_unlink, dir_fd, path)) return -1;
  const long begin = begin_record();
  return (int)end_name_record(begin, "unlink", dir_fd, path, syscall(SYS_unlinkat, dir_fd, path, flags));
}
int unlink(const char* path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char* path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char* path) {
  const int result = unlinkat(AT_FDCWD, path, 0);
  return result != 0 && errno == EISDIR ? unlinkat(AT_FDCWD, path, AT_REMOVEDIR) : result;
}

int linkat(int from_dir, const char* from, int to_dir, const char* to, int flags) {
  if (name_goes_wrong(op_link, to_dir, to)) return -1;
  const long begin = begin_record();
  return (int)end_two_names_record(begin, "link", from_dir, from, to_dir, to,
                                   syscall(SYS_linkat, from_dir, from, to_dir, to, flags));
}
int link(const char* from, const char* to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }
int symlinkat(const char* target, int dir_fd, const char* path) {
  if (name_goes_wrong(op_link, dir_fd, path)) return -1;
  const long begin = begin_record();
  return (int)end_name_record(begin, "create", dir_fd, path, syscall(SYS_symlinkat, target, dir_fd, path));
}
int symlink(const char* target, const char* path) { return symlinkat(target, AT_FDCWD, path); }

int fallocate64(int fd, int mode, off64_t offset, off64_t size) {
  if (fd_goes_wrong(op_allocate, fd)) return -1;
  const long begin = begin_record();
  return (int)end_fd_record(begin, "allocate", fd, syscall(SYS_fallocate, fd, mode, offset, size));
}
int fallocate(int fd, int mode, off_t offset, off_t size) { return fallocate64(fd, mode, offset, size); }

// Returns its error instead of setting errno, and has a way out where the file system does not know the call:
// the library's own.
int posix_fallocate64(int fd, off64_t offset, off64_t size) {
  if (fd_goes_wrong(op_allocate, fd)) return fail_errno;
  int (*real)(int, off64_t, off64_t);
  *(void**)&real = dlsym(RTLD_NEXT, "posix_fallocate64");
  return real == NULL ? ENOSYS : real(fd, offset, size);
}
int posix_fallocate(int fd, off_t offset, off_t size) { return posix_fallocate64(fd, offset, size); }

int mkdirat(int dir_fd, const char* path, mode_t mode) {
  if (name_goes_wrong(op_mkdir, dir_fd, path)) return -1;
  const long begin = begin_record();
  return (int)end_name_record(begin, "mkdir", dir_fd, path, syscall(SYS_mkdirat, dir_fd, path, mode));
}
int mkdir(const char* path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
