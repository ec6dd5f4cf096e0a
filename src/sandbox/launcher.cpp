#include "sandbox/launcher.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <tuple>

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

// Sends a request and returns the answer and its descriptors.
std::pair<sk_launcher_reply, std::vector<Fd>> exchange(int socket, const sk_launcher_request& request,
                                                       std::span<const int> fds) {
  sk_launcher_reply reply{};
  std::vector<Fd> received;
  if (!send_packet(socket, request, fds) || !receive_packet(socket, reply, received, kAnswerTimeoutMs))
    throw Error(Code::unavailable, "the sandbox's launcher has ended");
  if (reply.fault.step != 0) throw Error(Code::internal, "sandbox: " + describe(reply.fault));
  return {reply, std::move(received)};
}

void set_path(sk_launcher_request& request, const std::string& path) {
  if (path.size() >= sizeof request.path)
    throw Error(Code::bad_request, "a path is longer than the system allows");
  std::memcpy(request.path, path.data(), path.size());
}

// The ids that sessions may have.
std::pair<uint32_t, uint32_t> session_ids(const UserIdPlan& ids) {
  if (ids.count == 0) return {ids.session, ids.session};
  return {ids.first + 1, ids.first + ids.count};
}

void send_plan(const LauncherProcess& process, const LauncherPlan& plan) {
  sk_launcher_request request{};
  request.op = SK_OP_SETUP;
  request.layers = plan.layers;
  std::tie(request.uid_first, request.uid_last) = session_ids(plan.ids);
  request.owner_uid = plan.ids.owner_uid;
  request.owner_gid = plan.ids.owner_gid;
  request.extra_count = static_cast<uint32_t>(plan.extra_dirs.size());
  std::string paths = plan.runtime_root + '\0' + plan.python + '\0' + plan.data_root;
  for (const auto& dir : plan.extra_dirs) paths += '\0' + dir;
  set_path(request, paths);

  sk_filter_head head{plan.layers, request.uid_first, request.uid_last, 0};
  Fd library = sealed_file("sandkeep-inside", embedded_library());
  Fd program = sealed_file("sandkeep-runtime", embedded_program());
  Fd filter = sealed_file("sandkeep-filter",
                          std::string(reinterpret_cast<const char*>(&head), sizeof head) + plan.filter);
  const int fds[] = {library.get(), program.get(), filter.get()};
  exchange(process.socket.get(), request, fds);
}

}  // namespace

LauncherProcess start_launcher(const LauncherPlan& plan) {
  Fd program = sealed_file("sandkeep-launcher", embedded_launcher());
  Pair sockets = packet_sockets();
  pid_t pid = ::fork();
  if (pid == 0)
    become_launcher(program.get(), sockets.theirs.get(), plan.layers & SK_LAYER_OUTER_USER_NAMESPACE);
  if (pid < 0) throw system_error("cannot start the launcher", errno);
  LauncherProcess process(std::move(sockets.ours), Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0u))));
  sockets.theirs.reset();
  send_plan(process, plan);
  return process;
}

LauncherProcess::~LauncherProcess() {
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
  auto [reply, fds_of_reply] = exchange(process_.socket.get(), request, fds);
  received = std::move(fds_of_reply);
  return reply;
}

Launcher::Started Launcher::start_zygote(std::span<const int> fds) {
  sk_launcher_request request{};
  request.op = SK_OP_ZYGOTE;
  std::vector<Fd> received;
  auto reply = ask(request, fds, received);
  if (received.size() != 1) throw Error(Code::internal, "sandbox: the launcher sent no descriptor");
  return {reply.pid, std::move(received[0]), Fd()};
}

Launcher::Started Launcher::start_init(uint32_t uid, int control_fd) {
  sk_launcher_request request{};
  request.op = SK_OP_INIT;
  request.uid = uid;
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
