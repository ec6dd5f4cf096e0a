#include "model/writers.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>
#include <stdexcept>

#include "model/writer_ops.h"

namespace sk::model {

namespace {

std::string open_list(const WriterOps& ops) {
  std::string out;
  for (const auto& [device, inode] : ops.open_files())
    out += std::to_string(device) + " " + std::to_string(inode) + " ";
  return out;
}

[[noreturn]] void serve(Channel channel) {
  WriterOps ops;
  while (auto message = channel.receive()) {
    if (message->starts_with("enter "))
      ops.enter(message->substr(6));
    else if (*message == "release_all")
      ops.release_all();
    else
      ops.run(parse_history(*message).steps.at(0));
    if (!channel.send(open_list(ops))) break;
  }
  ::_exit(0);
}

}  // namespace

Writers::Writers(size_t count) : writers_(count) {
  for (auto& writer : writers_) spawn(writer);
}

Writers::~Writers() {
  for (auto& writer : writers_) {
    ::kill(writer.pid, SIGKILL);
    ::waitpid(writer.pid, nullptr, 0);
  }
}

void Writers::spawn(Writer& writer) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("socketpair");
  pid_t parent = ::getpid();
  writer.pid = ::fork();
  if (writer.pid < 0) throw std::runtime_error("fork");
  if (writer.pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    ::close(ends[0]);
    serve(Channel(ends[1]));
  }
  ::close(ends[1]);
  writer.channel = Channel(ends[0]);
  writer.pending = 0;
  writer.open.clear();
}

bool Writers::does(const std::string& what) { return WriterOps::does(what); }

bool Writers::may_remove(const std::string& what) {
  static const std::set<std::string> kMayRemove{"unlink", "rename", "exchange", "replace", "recreate",
                                                "retree", "rmtree", "clear",    "fifo",    "symlink"};
  return kMayRemove.contains(what);
}

void Writers::enter(const std::string& directory) {
  directory_ = directory;
  for (auto& writer : writers_)
    if (writer.channel.send("enter " + directory)) ++writer.pending;
  wait();
}

void Writers::start(const Step& step) {
  Writer& writer = writers_[static_cast<size_t>(step.writer) % writers_.size()];
  if (writer.channel.send(to_text(step))) ++writer.pending;
}

void Writers::drain(Writer& writer) {
  while (writer.pending > 0) {
    auto answer = writer.channel.receive();
    if (!answer) throw std::runtime_error("a writing process died");
    --writer.pending;
    writer.open.clear();
    std::istringstream words(*answer);
    for (uint64_t device, inode; words >> device >> inode;) writer.open.emplace(device, inode);
  }
}

void Writers::wait() {
  for (auto& writer : writers_) drain(writer);
}

void Writers::release_all() {
  for (auto& writer : writers_)
    if (writer.channel.send("release_all")) ++writer.pending;
  wait();
}

void Writers::kill(int index) {
  Writer& writer = writers_[static_cast<size_t>(index) % writers_.size()];
  ::kill(writer.pid, SIGKILL);
  ::waitpid(writer.pid, nullptr, 0);
  spawn(writer);
  if (writer.channel.send("enter " + directory_)) ++writer.pending;
  drain(writer);
}

void Writers::kill_all() {
  for (auto& writer : writers_) {
    ::kill(writer.pid, SIGKILL);
    ::waitpid(writer.pid, nullptr, 0);
    spawn(writer);
  }
}

std::set<std::pair<uint64_t, uint64_t>> Writers::open_files() const {
  std::set<std::pair<uint64_t, uint64_t>> all;
  for (const auto& writer : writers_) all.insert(writer.open.begin(), writer.open.end());
  return all;
}

}  // namespace sk::model
