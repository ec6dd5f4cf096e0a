#include "model/keeper.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "model/judge.h"

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

std::string unhex(const std::string& text) {
  std::string out;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    out += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return out;
}

namespace {

constexpr size_t kCheckedAtOnce = 200;

}  // namespace

void check_versions(Keeper& keeper, const std::vector<std::pair<std::string, std::string>>& versions) {
  for (size_t at = 0; at < versions.size(); at += kCheckedAtOnce) {
    size_t end = std::min(versions.size(), at + kCheckedAtOnce);
    Json names = Json::array();
    for (size_t i = at; i < end; ++i) names.push_back(versions[i].first);
    auto answer = keeper.order({{"do", "read"}, {"versions", names}});
    if (!answer || answer->contains("error")) throw Broken("versions cannot be read");
    for (size_t i = at; i < end; ++i) {
      std::string hash = answer->at("hashes").at(versions[i].first);
      if (hash != versions[i].second)
        throw Broken("an answered version does not give its bytes: " + versions[i].first + ": " + hash);
    }
  }
}

void check_manifest(Keeper& keeper, const std::string& directory) {
  auto answer = keeper.order({{"do", "manifest"}});
  if (!answer || answer->contains("error")) throw Broken("no manifest");
  for (const auto& item : answer->at("paths")) {
    std::string path = unhex(item);
    struct stat st;
    if (!path.empty() && path.size() < 4000 && ::lstat((directory + "/" + path).c_str(), &st) != 0)
      throw Broken("the manifest lists '" + path + "', which is not there");
  }
}

}  // namespace sk::model
