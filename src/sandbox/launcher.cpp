#include "sandbox/launcher.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "sandbox/embedded.h"

namespace sk::sandbox {

namespace {

// Building the root accesses the disk; everything else takes a millisecond.
constexpr int kAnswerTimeoutMs = 30'000;

// Runs after fork in a multi-threaded server: system calls only.
[[noreturn]] void become_launcher(int program_fd, int socket_fd, bool outer_user_namespace) {
  char name[] = "sandkeep-launcher", outer[] = "outer";
  char* arguments[] = {name, outer_user_namespace ? outer : nullptr, nullptr};
  char* environment[] = {nullptr};
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int signal_number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) ::signal(signal_number, SIG_DFL);
  int null_fd = ::open("/dev/null", O_RDWR);
  // Each may occupy the number of the other.
  int socket_high = ::fcntl(socket_fd, F_DUPFD, 10);
  int program_high = ::fcntl(program_fd, F_DUPFD, 10);
  if (null_fd < 0 || socket_high < 0 || program_high < 0) ::_exit(127);
  ::dup2(null_fd, 0);
  ::dup2(2, 1);
  ::dup2(socket_high, 3);
  ::dup2(program_high, 4);
  ::syscall(SYS_close_range, 5u, ~0u, 0u);
  ::syscall(SYS_execveat, 4, "", arguments, environment, AT_EMPTY_PATH);
  ::_exit(127);
}

void set_path(sk_launcher_request& request, const std::string& path) {
  if (path.size() >= sizeof request.path)
    throw Error(Code::bad_request, "a path is longer than the system allows");
  std::memcpy(request.path, path.data(), path.size());
}

}  // namespace

Launcher::Launcher(const Setup& setup) {
  Fd program = sealed_file("sandkeep-launcher", embedded_launcher());
  Pair sockets = packet_sockets();
  process_.socket = std::move(sockets.ours);
  pid_t pid = ::fork();
  if (pid == 0)
    become_launcher(program.get(), sockets.theirs.get(), setup.layers & SK_LAYER_OUTER_USER_NAMESPACE);
  if (pid < 0) throw system_error("cannot start the launcher", errno);
  process_.pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0u)));
  sockets.theirs.reset();

  sk_launcher_request request{};
  request.op = SK_OP_SETUP;
  request.layers = setup.layers;
  request.extra_count = static_cast<uint32_t>(setup.extra_dirs.size());
  std::string paths = setup.runtime_root;
  for (const auto& dir : setup.extra_dirs) paths += '\0' + dir;
  set_path(request, paths);
  std::vector<Fd> none;
  ask(request, {}, none);
}

Launcher::Process::~Process() {
  socket.reset();
  if (!pidfd) return;
  if (!wait_readable(pidfd.get(), 5'000)) ::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0u);
  siginfo_t info;
  while (::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd.get()), &info, WEXITED) != 0 &&
         errno == EINTR) {
  }
}

sk_launcher_reply Launcher::ask(sk_launcher_request& request, std::span<const int> fds,
                                std::vector<Fd>& received) {
  MutexLock lock(mutex_);
  sk_launcher_reply reply{};
  if (!send_packet(process_.socket.get(), request, fds) ||
      !receive_packet(process_.socket.get(), reply, received, kAnswerTimeoutMs))
    throw Error(Code::unavailable, "the sandbox's launcher has ended");
  if (reply.fault.step != 0) throw Error(Code::internal, "sandbox: " + describe(reply.fault));
  return reply;
}

Launcher::Started Launcher::start_zygote(const std::string& python, std::span<const int> fds) {
  sk_launcher_request request{};
  request.op = SK_OP_ZYGOTE;
  set_path(request, python);
  std::vector<Fd> received;
  auto reply = ask(request, fds, received);
  if (received.size() != 1) throw Error(Code::internal, "sandbox: the launcher sent no descriptor");
  return {reply.pid, std::move(received[0]), Fd()};
}

Launcher::Started Launcher::start_init(uint32_t layers, const Ids& ids, int control_fd) {
  sk_launcher_request request{};
  request.op = SK_OP_INIT;
  request.layers = layers;
  request.uid = ids.uid;
  request.gid = ids.gid;
  request.owner_uid = ids.owner_uid;
  request.owner_gid = ids.owner_gid;
  std::vector<Fd> received;
  auto reply = ask(request, std::span(&control_fd, 1), received);
  if (received.empty()) throw Error(Code::internal, "sandbox: the launcher sent no descriptor");
  return {reply.pid, std::move(received[0]), received.size() > 1 ? std::move(received[1]) : Fd()};
}

Fd Launcher::open_tree(const std::string& path, int folder_fd, Access access, int idmap_fd) {
  sk_launcher_request request{};
  request.op = SK_OP_OPEN_TREE;
  request.read_only = access == Access::read_only;
  set_path(request, path);
  const int fds[] = {folder_fd, idmap_fd};
  std::vector<Fd> received;
  ask(request, std::span(fds, idmap_fd >= 0 ? 2 : 1), received);
  if (received.size() != 1) throw Error(Code::internal, "sandbox: the launcher sent no descriptor");
  return std::move(received[0]);
}

bool Launcher::alive() const { return !wait_readable(process_.pidfd.get(), 0); }

}  // namespace sk::sandbox
