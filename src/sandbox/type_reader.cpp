#include "sandbox/type_reader.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/magic.h"
#include "sandbox/packets.h"
#include "sandbox/seccomp_policy.h"
#include "sandbox/server_confinement.h"

extern "C" {
#include "sandbox/inside/common.h"
}

namespace sk::sandbox {

namespace {

// A question is its number and the bytes, an answer the number of its question and the type. When a reader
// has died, its parent answers with kLost, so that nobody waits for it.
using Number = uint32_t;
constexpr Number kLost = 0;
constexpr size_t kTypeBytesMax = 256;
constexpr suseconds_t kTimeUs = 500'000;  // that a reader may take
constexpr int kPatienceMs = 5'000;        // with a reader and its parent
constexpr int kFirstFd = 3;               // of the sockets
constexpr int kAll = static_cast<int>(TypeReader::kReaders);
using Sockets = std::array<Fd, TypeReader::kReaders>;

// The reader's side. It has one thread, and reads and writes only.

[[noreturn]] void serve_types(int socket) {
  ::prctl(PR_SET_NAME, "sk-type-reader", 0, 0, 0);
  if (Fd score{::open("/proc/self/oom_score_adj", O_WRONLY)}) (void)!::write(score.get(), "1000", 4);
  std::string program = compile_reader_policy();
  sk_fault fault{};
  if (kernel_has_seccomp() &&
      sk_install_filter(program.data(), program.size() / sizeof(sock_filter), &fault) != 0)
    ::_exit(1);
  char question[sizeof(Number) + TypeReader::kBytesMax];
  for (;;) {
    ssize_t size = ::read(socket, question, sizeof question);
    if (size < 0 && errno == EINTR) continue;
    if (size < static_cast<ssize_t>(sizeof(Number))) ::_exit(0);  // the server has ended
    const itimerval limit{{0, 0}, {0, kTimeUs}}, none{};
    ::setitimer(ITIMER_REAL, &limit, nullptr);  // its signal ends this process
    std::string answer(question, sizeof(Number));
    answer += type_by_magic({question + sizeof(Number), static_cast<size_t>(size) - sizeof(Number)})
                  .substr(0, kTypeBytesMax);
    ::setitimer(ITIMER_REAL, &none, nullptr);
    if (::write(socket, answer.data(), answer.size()) < 0) ::_exit(0);
  }
}

// The parent of the readers, which reads nothing itself.

pid_t fork_reader(int socket) {
  pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  for (int fd = kFirstFd; fd < kFirstFd + kAll; ++fd)
    if (fd != socket) ::close(fd);
  serve_types(socket);
}

[[noreturn]] void keep_readers_alive() {
  ::prctl(PR_SET_NAME, "sk-types", 0, 0, 0);
  pid_t readers[TypeReader::kReaders];
  for (int i = 0; i < kAll; ++i) readers[i] = fork_reader(kFirstFd + i);
  for (;;) {
    int status = 0;
    pid_t ended = ::waitpid(-1, &status, 0);
    if (ended < 0 && errno == EINTR) continue;
    if (ended < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) ::_exit(0);  // so has the server
    for (int i = 0; i < kAll; ++i) {
      if (readers[i] != ended) continue;
      if (::write(kFirstFd + i, &kLost, sizeof kLost) < 0) ::_exit(0);
      readers[i] = fork_reader(kFirstFd + i);
    }
  }
}

// Keeps standard error, and the sockets as the descriptors from kFirstFd on. System calls only.
void keep_only(const Sockets& sockets) {
  constexpr int kHigh = 100;  // each may occupy the number of another
  int high[TypeReader::kReaders];
  for (size_t i = 0; i < sockets.size(); ++i) high[i] = ::fcntl(sockets[i].get(), F_DUPFD, kHigh);
  for (int i = 0; i < kAll; ++i) ::dup2(high[i], kFirstFd + i);
  ::syscall(SYS_close_range, static_cast<unsigned>(kFirstFd + kAll), ~0u, 0u);
  int null = ::open("/dev/null", O_RDWR);
  for (int fd : {0, 1}) ::dup2(null, fd);
  ::close(null);
}

[[noreturn]] void become_parent(const Sockets& sockets) {
  try {
    keep_only(sockets);
    type_by_magic("first");  // loads its rules, which the readers then share
    ::setsid();              // Ctrl-C is for the server
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (int number : {SIGCHLD, SIGPIPE, SIGALRM}) ::signal(number, SIG_DFL);
    keep_capabilities({});
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) keep_readers_alive();
  } catch (const Error&) {
    // The server notices.
  }
  ::_exit(1);
}

}  // namespace

TypeReader::TypeReader() {
  Sockets theirs;
  for (size_t i = 0; i < kReaders; ++i) {
    Pair pair = packet_sockets();
    readers_[i].socket = std::move(pair.ours);
    theirs[i] = std::move(pair.theirs);
  }
  pid_ = ::fork();
  if (pid_ < 0) throw system_error("cannot start a process", errno);
  if (pid_ == 0) become_parent(theirs);
}

TypeReader::~TypeReader() {
  ::kill(pid_, SIGKILL);  // and with it the readers
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string TypeReader::type_of(std::string_view bytes) {
  auto is_free = [](const Reader& reader) { return reader.is_free; };
  MutexLock lock(mutex_);
  freed_.wait(lock, [&]() SK_REQUIRES(mutex_) { return std::ranges::any_of(readers_, is_free); });
  Reader& reader = *std::ranges::find_if(readers_, is_free);
  reader.is_free = false;
  lock.unlock();
  std::string type = ask(reader, bytes.substr(0, kBytesMax));
  lock.lock();
  reader.is_free = true;
  freed_.notify_one();
  return type;
}

std::string TypeReader::ask(Reader& reader, std::string_view bytes) {
  Number number = ++reader.asked == kLost ? ++reader.asked : reader.asked;
  std::string question(reinterpret_cast<const char*>(&number), sizeof number);
  question += bytes;
  if (::send(reader.socket.get(), question.data(), question.size(), MSG_NOSIGNAL) < 0) return {};
  // Answers to earlier questions, of which this side had given up, come first.
  while (wait_readable(reader.socket.get(), kPatienceMs)) {
    char answer[sizeof number + kTypeBytesMax];
    ssize_t size = ::recv(reader.socket.get(), answer, sizeof answer, 0);
    if (size < static_cast<ssize_t>(sizeof number)) return {};
    Number of = 0;
    std::memcpy(&of, answer, sizeof of);
    if (of == kLost) return {};
    if (of == number) return {answer + sizeof number, static_cast<size_t>(size) - sizeof number};
  }
  return {};
}

}  // namespace sk::sandbox
