#include "sandbox/privileged.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/mutex.h"
#include "sandbox/packets.h"
#include "sandbox/project_quota.h"
#include "sandbox/server_confinement.h"

namespace sk::sandbox {

namespace {

// A launcher may have to wait for the disk, and code can have many mappings.
constexpr size_t kIdleReadersMax = 4;
constexpr int kHelperTimeoutMs = 60'000;

enum class HelperOp : uint32_t {
  start_launcher = 1,  // argument: number of the plan → fds: socket, pidfd
  start_reader = 2,    // → fd: socket of a process that serves the other two
  files_written_by = 3,
  deleted_files_of = 4,
  limit_folder = 5,  // fd: the folder
};

struct HelperRequest {
  HelperOp op;
  int32_t argument = 0;
  uint64_t device = 0;
  DiskLimits disk = {};
};

// A long answer is several of them.
struct HelperReply {
  char message[256];  // of the error; "" for success
  uint32_t count;
  uint32_t has_more;
  std::array<DeletedFile, 128> files;  // is_mapping is the device for files_written_by
};

class Here : public Privileged {
 public:
  explicit Here(std::vector<LauncherPlan> plans) : plans_(std::move(plans)) {}

  LauncherProcess start_launcher(size_t plan) override {
    if (plan >= plans_.size()) throw Error(Code::internal, "there is no such launcher");
    return sk::sandbox::start_launcher(plans_[plan]);
  }
  void limit_folder(int folder_fd, const DiskLimits& limits) override { limit_project(folder_fd, limits); }
  std::vector<OpenFile> files_written_by(pid_t pid) override { return sk::sandbox::files_written_by(pid); }
  std::vector<DeletedFile> deleted_files_of(pid_t pid, uint64_t device) override {
    return sk::sandbox::deleted_files_of(pid, device);
  }

 private:
  const std::vector<LauncherPlan> plans_;
};

// The other side: what runs in the helper and in its readers. Each has one thread.

void send_files(int socket, const std::vector<DeletedFile>& files) {
  size_t sent = 0;
  do {
    HelperReply reply{};
    size_t count = std::min(files.size() - sent, reply.files.size());
    std::copy_n(files.begin() + static_cast<ptrdiff_t>(sent), count, reply.files.begin());
    sent += count;
    reply.count = static_cast<uint32_t>(count);
    reply.has_more = sent < files.size();
    if (!send_packet(socket, reply)) ::_exit(0);
  } while (sent < files.size());
}

[[noreturn]] void serve_reader(int socket) {
  keep_capabilities({CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH});
  for (;;) {
    HelperRequest request{};
    std::vector<Fd> none;
    if (!receive_packet(socket, request, none, -1)) ::_exit(0);
    std::vector<DeletedFile> files;
    if (request.op == HelperOp::files_written_by)
      for (const auto& file : files_written_by(request.argument))
        files.push_back({file.inode, 0, file.device});
    else
      files = deleted_files_of(request.argument, request.device);
    send_files(socket, files);
  }
}

void start_reader(int helper_socket) {
  Pair sockets = packet_sockets();
  pid_t pid = ::fork();
  if (pid < 0) throw system_error("cannot start a process", errno);
  if (pid == 0) {
    ::close(helper_socket);
    sockets.ours.reset();
    serve_reader(sockets.theirs.get());
  }
  int fd = sockets.ours.get();
  if (!send_packet(helper_socket, HelperReply{}, std::span(&fd, 1))) ::_exit(0);
}

void serve_helper_request(int socket, const HelperRequest& request, const std::vector<Fd>& fds, Here& here) {
  if (request.op == HelperOp::start_reader) return start_reader(socket);
  if (request.op == HelperOp::limit_folder) {
    if (!fds.empty()) here.limit_folder(fds[0].get(), request.disk);
    if (!send_packet(socket, HelperReply{})) ::_exit(0);
    return;
  }
  auto launcher = here.start_launcher(static_cast<size_t>(request.argument));
  const int ends[] = {launcher.socket.get(), launcher.pidfd.get()};
  bool sent = send_packet(socket, HelperReply{}, ends);
  launcher.pidfd.reset();  // it belongs to the server now, which ends it
  if (!sent) ::_exit(0);
}

[[noreturn]] void serve_helper(int socket, Here& here) {
  ::prctl(PR_SET_NAME, "sk-helper", 0, 0, 0);
  // Keep only standard error, for messages of Python's start: the end of the server's output is the server's.
  Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd : {0, 1}) ::dup2(null.get(), fd);
  ::setsid();  // Ctrl-C is for the server, which still needs this process while it stops
  ::signal(SIGCHLD, SIG_IGN);
  for (;;) {
    HelperRequest request{};
    std::vector<Fd> fds;
    if (!receive_packet(socket, request, fds, -1)) ::_exit(0);
    try {
      serve_helper_request(socket, request, fds, here);
    } catch (const Error& error) {
      HelperReply reply{};
      std::strncpy(reply.message, error.message().c_str(), sizeof reply.message - 1);
      if (!send_packet(socket, reply)) ::_exit(0);
    }
  }
}

// The server's side.
class Helper : public Privileged {
 public:
  Helper(pid_t pid, Fd socket) : pid_(pid), socket_(std::move(socket)) {}
  ~Helper() override {
    socket_.reset();  // it reads end-of-file and exits
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  LauncherProcess start_launcher(size_t plan) override {
    auto fds = ask({HelperOp::start_launcher, static_cast<int32_t>(plan)}, 2);
    return {std::move(fds[0]), std::move(fds[1])};
  }

  void limit_folder(int folder_fd, const DiskLimits& limits) override {
    ask({.op = HelperOp::limit_folder, .disk = limits}, 0, std::span(&folder_fd, 1));
  }

  std::vector<OpenFile> files_written_by(pid_t pid) override {
    std::vector<OpenFile> out;
    for (const auto& file : read({HelperOp::files_written_by, pid}))
      out.push_back({file.is_mapping, file.inode});
    return out;
  }

  std::vector<DeletedFile> deleted_files_of(pid_t pid, uint64_t device) override {
    return read({HelperOp::deleted_files_of, pid, device});
  }

 private:
  static Error ended() {
    return Error(Code::unavailable, "the server's helper process has ended").advise(Advice::read_log);
  }

  std::vector<Fd> ask(const HelperRequest& request, size_t fd_count, std::span<const int> sent = {}) {
    MutexLock lock(mutex_);
    HelperReply reply{};
    std::vector<Fd> fds;
    if (!send_packet(socket_.get(), request, sent) ||
        !receive_packet(socket_.get(), reply, fds, kHelperTimeoutMs))
      throw ended();
    if (reply.message[0] != 0) throw Error(Code::internal, reply.message);
    if (fds.size() != fd_count) throw ended();
    return fds;
  }

  // Each caller has a reader to itself, so that a process with many files delays nobody else.
  std::vector<DeletedFile> read(const HelperRequest& request) {
    Fd reader = take_reader();
    std::vector<DeletedFile> out;
    if (!send_packet(reader.get(), request)) throw ended();
    HelperReply reply{};
    do {
      std::vector<Fd> none;
      if (!receive_packet(reader.get(), reply, none, kHelperTimeoutMs) || reply.count > reply.files.size())
        throw ended();
      out.insert(out.end(), reply.files.begin(), reply.files.begin() + reply.count);
    } while (reply.has_more);
    MutexLock lock(readers_mutex_);
    if (idle_readers_.size() < kIdleReadersMax) idle_readers_.push_back(std::move(reader));  // others end
    return out;
  }

  Fd take_reader() {
    {
      MutexLock lock(readers_mutex_);
      if (!idle_readers_.empty()) {
        Fd reader = std::move(idle_readers_.back());
        idle_readers_.pop_back();
        return reader;
      }
    }
    return std::move(ask({HelperOp::start_reader}, 1)[0]);
  }

  const pid_t pid_;
  Mutex mutex_;  // serializes requests
  Fd socket_;    // constant until the destructor
  Mutex readers_mutex_;
  std::vector<Fd> idle_readers_ SK_GUARDED_BY(readers_mutex_);
};

}  // namespace

std::unique_ptr<Privileged> privileged_here(std::vector<LauncherPlan> plans) {
  return std::make_unique<Here>(std::move(plans));
}

std::unique_ptr<Privileged> privileged_helper(std::vector<LauncherPlan> plans) {
  Pair sockets = packet_sockets();
  pid_t pid = ::fork();
  if (pid < 0) throw system_error("cannot start the helper process", errno);
  if (pid == 0) {
    sockets.ours.reset();
    Here here(std::move(plans));
    serve_helper(sockets.theirs.get(), here);
  }
  return std::make_unique<Helper>(pid, std::move(sockets.ours));
}

}  // namespace sk::sandbox
