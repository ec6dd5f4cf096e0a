#include "model/keeper.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

namespace sk::model {

namespace {
constexpr int64_t kAnswerUs = 60'000'000;
}

void Keeper::start(const KeeperOptions& options) {
  kill();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("socketpair");
  pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork");
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    ::close(ends[0]);
    serve_keeper(options, Channel(ends[1]));
  }
  ::close(ends[1]);
  channel_ = Channel(ends[0]);
}

void Keeper::kill() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, &status_, 0);
  pid_ = 0;
  channel_.close();
}

void Keeper::stop_running() {
  if (pid_ != 0) ::kill(pid_, SIGSTOP);
}

void Keeper::go_on() {
  if (pid_ != 0) ::kill(pid_, SIGCONT);
}

std::optional<Json> Keeper::order(const Json& order) {
  begin(order);
  return finish();
}

void Keeper::begin(const Json& order) { channel_.send(order.dump()); }

std::optional<Json> Keeper::finish() {
  std::optional<std::string> answer;
  if (channel_.wait(kAnswerUs)) answer = channel_.receive();
  if (answer) return Json::parse(*answer);
  kill();
  return std::nullopt;
}

}  // namespace sk::model
