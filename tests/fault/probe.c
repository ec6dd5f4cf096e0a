// Does one of each file operation in the folder that it is given, in a fixed order, and prints "OPERATION
// ok", "OPERATION short" or "OPERATION <errno>" for each: what the fault library is tested with.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char* operation, long result) {
  if (result < 0)
    printf("%s %d\n", operation, errno);
  else
    printf("%s ok\n", operation);
}

static void say_written(const char* operation, long result, long expected) {
  if (result >= 0 && result < expected)
    printf("%s short\n", operation);
  else
    say(operation, result);
}

int main(int argc, char** argv) {
  if (argc != 3 || chdir(argv[1]) != 0) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);  // what was said is out when the process is killed
  const struct iovec parts[2] = {{"0123456789", 10}, {"abcdef", 6}};
  const int outside = open(argv[2], O_WRONLY | O_CREAT, 0600);
  say_written("outside", write(outside, "0123456789", 10), 10);
  if (fork() == 0) {
    const int child_file = open("child", O_WRONLY | O_CREAT, 0600);
    _exit(child_file < 0 || unlink("child") != 0);
  }
  int status = 1;
  wait(&status);
  say("child", status == 0 ? 0 : -1);

  const int fd = open("a", O_RDWR | O_CREAT | O_EXCL, 0600);
  say("create", fd);
  say_written("write", write(fd, "0123456789", 10), 10);
  say_written("pwrite", pwrite(fd, "0123456789", 10, 10), 10);
  say_written("writev", writev(fd, parts, 2), 16);
  say("ftruncate", ftruncate(fd, 20));
  say("fallocate", fallocate(fd, 0, 0, 4096));
  say("fsync", fsync(fd));
  say("fdatasync", fdatasync(fd));
  say("link", link("a", "b"));
  say("rename", rename("b", "c"));
  say("mkdir", mkdir("d", 0700));
  const int dir = open("d", O_RDONLY | O_DIRECTORY);
  say("openat", openat(dir, "e", O_WRONLY | O_CREAT, 0600));
  say("renameat", renameat(dir, "e", dir, "f"));
  say("unlinkat", unlinkat(dir, "f", 0));
  say("rmdir", rmdir("d"));
  say("unlink", unlink("c"));
  puts("end");
  return 0;
}
