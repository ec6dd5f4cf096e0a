#include "cli/commands/child_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "base/error.h"
#include "base/text.h"

namespace sk::cli {

namespace {

constexpr int kReadyTimeoutMs = 60'000;

// Runs between fork and exec: makes system calls only. The strings are created before.
[[noreturn]] void become_server(char* const* arguments, char* const* environment, int output, int log) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int null_fd = ::open("/dev/null", O_RDONLY);
  ::dup2(null_fd, 0);
  ::dup2(output, 1);
  ::dup2(log, 2);
  // Use a separate process group: Ctrl-C at the terminal reaches only the demo, which then ends the server.
  ::setpgid(0, 0);
  // The demo blocks signals for its InterruptGuard; exec would pass the mask on.
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve("/proc/self/exe", arguments, environment);
  ::_exit(127);
}

// Returns the address in "ready http://…".
std::string ready_url(const std::string& text) {
  if (!text.starts_with("ready ")) return {};
  auto end = text.find('\n');
  return end == std::string::npos ? std::string() : text.substr(6, end - 6);
}

}  // namespace

ChildServer::ChildServer(Options options) : options_(std::move(options)) {}

ChildServer::~ChildServer() { kill_at_once(); }

void ChildServer::start() {
  // Keep the address of the first start, so that links stay valid.
  std::string listen = url_.empty() ? "127.0.0.1:0" : url_.substr(url_.find("//") + 2);
  std::vector<std::string> words = {"sandkeep", "serve", "--data", options_.folder + "/data",
                                    "--listen", listen};
  words.insert(words.end(), options_.flags.begin(), options_.flags.end());
  std::vector<std::string> variables = {"SANDKEEP_ROOT_KEY=" + options_.root_key, "HOME=" + options_.folder,
                                        "PATH=/usr/local/bin:/usr/bin:/bin"};
  std::vector<char*> arguments, environment;
  for (auto& word : words) arguments.push_back(word.data());
  for (auto& variable : variables) environment.push_back(variable.data());
  arguments.push_back(nullptr);
  environment.push_back(nullptr);
  Fd log = open_file(options_.folder + "/server.log", O_WRONLY | O_CREAT | O_APPEND, 0600);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw system_error("cannot make a pipe", errno);
  output_ = Fd(ends[0]);
  Fd theirs(ends[1]);
  {
    MutexLock guard(mutex_);
    SK_CHECK(pid_ < 0);
    if (ended_) throw Error(Code::unavailable, "the server was stopped");
    pid_ = ::fork();
    if (pid_ < 0) throw system_error("cannot start another process", errno);
    if (pid_ == 0) become_server(arguments.data(), environment.data(), theirs.get(), log.get());
  }
  theirs.reset();

  auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kReadyTimeoutMs);
  for (std::string text; (url_ = ready_url(text)).empty();) {
    auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd readable{output_.get(), POLLIN, 0};
    char buffer[4096];
    if (left.count() <= 0 || ::poll(&readable, 1, static_cast<int>(left.count())) <= 0)
      throw Error(Code::unavailable, "the server did not start in time:\n" + log_tail());
    auto got = ::read(output_.get(), buffer, sizeof buffer);
    if (got <= 0) throw Error(Code::unavailable, "the server did not start:\n" + log_tail());
    text.append(buffer, static_cast<size_t>(got));
  }
}

void ChildServer::kill_at_once() {
  {
    MutexLock guard(mutex_);
    kill_locked();
  }
  output_.reset();
}

void ChildServer::end() {
  MutexLock guard(mutex_);
  ended_ = true;
  kill_locked();
}

pid_t ChildServer::pid() const {
  MutexLock guard(mutex_);
  return pid_;
}

void ChildServer::kill_locked() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

std::string ChildServer::log_tail() const {
  std::string text = read_file(options_.folder + "/server.log");
  return text.size() > 2'000 ? text.substr(text.size() - 2'000) : text;
}

}  // namespace sk::cli
