#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int sk_fail(struct sk_fault* fault, enum sk_step step) {
  fault->step = (int32_t)step;
  fault->err = errno;
  return -1;
}

ssize_t sk_receive(int socket_fd, void* packet, size_t bytes_max, int* fds, int* fd_count) {
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int) * SK_FDS_MAX)];
  } control;
  struct iovec piece = {packet, bytes_max};
  struct msghdr message = {
      .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  int room = *fd_count;
  *fd_count = 0;
  ssize_t got;
  do got = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got < 0) return -1;
  for (struct cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
      if (*fd_count < room)
        fds[(*fd_count)++] = fd;
      else
        close(fd);
    }
  }
  return got;
}

int sk_send(int socket_fd, const void* packet, size_t bytes, const int* fds, int fd_count) {
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int) * SK_FDS_MAX)];
  } control;
  memset(&control, 0, sizeof control);
  struct iovec piece = {(void*)packet, bytes};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  if (fd_count > 0) {
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)fd_count);
    struct cmsghdr* c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)fd_count);
    memcpy(CMSG_DATA(c), fds, sizeof(int) * (size_t)fd_count);
  }
  ssize_t sent;
  do sent = sendmsg(socket_fd, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent < 0 ? -1 : 0;
}

int sk_write_text(const char* path, const char* text, size_t bytes) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t written = write(fd, text, bytes);
  int saved = errno;
  close(fd);
  errno = saved;
  return written == (ssize_t)bytes ? 0 : -1;
}

ssize_t sk_read_text(const char* path, char* out, size_t bytes_max) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t count = read(fd, out, bytes_max - 1);
  int saved = errno;
  close(fd);
  errno = saved;
  out[count > 0 ? count : 0] = 0;
  return count;
}

uint64_t sk_number_after(const char* text, const char* name) {
  const char* at = strstr(text, name);
  if (!at) return 0;
  at += strlen(name);
  while (*at == ' ' || *at == '\t') ++at;
  uint64_t value = 0;
  while (*at >= '0' && *at <= '9') value = value * 10 + (uint64_t)(*at++ - '0');
  return value;
}

char* sk_put_number(char* out, uint64_t value) {
  char digits[20];
  int count = 0;
  do digits[count++] = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  while (count > 0) *out++ = digits[--count];
  return out;
}
