#include "interpreter/copy/watcher.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <span>

#include "base/error.h"

namespace sk::interpreter {

namespace {

constexpr uint64_t kStop = 0;  // no group has this number

std::optional<size_t> host_limit(const char* name) {
  std::ifstream file(std::string("/proc/sys/fs/inotify/") + name);
  size_t limit = 0;
  return file >> limit ? std::optional(limit) : std::nullopt;
}

// A share of the watches that the host allows this user, so that a few sessions cannot use them all.
size_t folders_max(size_t wanted) {
  constexpr size_t kShares = 8;
  auto host = host_limit("max_user_watches");
  return host ? std::max<size_t>(16, std::min(wanted, *host / kShares)) : wanted;
}

size_t half_of_instances() {
  constexpr size_t kUsual = 128;
  return host_limit("max_user_instances").value_or(kUsual) / 2;
}

}  // namespace

Watcher::Watcher(Options options)
    : folders_per_copy_max_(folders_max(options.folders_per_copy_max)),
      own_instances_max_(options.own_instances_max.value_or(half_of_instances())),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      stop_(::eventfd(0, EFD_CLOEXEC)) {
  epoll_event stop{.events = EPOLLIN, .data = {.u64 = kStop}};
  if (!epoll_ || !stop_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, stop_.get(), &stop) != 0)
    throw system_error("cannot watch folders", errno);
  thread_ = std::thread([this] { run(); });
}

Watcher::~Watcher() {
  uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

void Watcher::run() {
  std::array<epoll_event, 64> ready{};
  for (;;) {
    int count = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), -1);
    if (count < 0 && errno != EINTR) die("epoll_wait failed in the watcher of working copies");
    for (const auto& one : std::span(ready).first(static_cast<size_t>(std::max(count, 0)))) {
      const uint64_t number = one.data.u64;
      if (number == kStop) return;
      std::shared_ptr<Group> group;
      {
        MutexLock lock(mutex_);
        auto found = groups_.find(number);
        if (found != groups_.end()) group = found->second.lock();
      }
      // A group that is busy reads its events itself, and is listened to again after that.
      if (group && group->watch.read_some() == WatchGroup::Read::done) arm(*group, EPOLL_CTL_MOD);
    }
  }
}

// Each time, the thread is told of events once.
void Watcher::arm(const Group& group, int operation) {
  epoll_event event{.events = EPOLLIN | EPOLLONESHOT, .data = {.u64 = group.number}};
  if (::epoll_ctl(epoll_.get(), operation, group.watch.descriptor(), &event) != 0)
    die("epoll_ctl failed in the watcher of working copies");
}

void Watcher::listen_to(Group& group) {
  if (group.is_listened_to || !group.watch.open() || group.is_listened_to.exchange(true)) return;
  arm(group, EPOLL_CTL_ADD);
}

// After every call that may have kept the thread from reading.
void Watcher::end_call(Group& group) {
  if (group.watch.was_passed_over()) arm(group, EPOLL_CTL_MOD);
}

std::shared_ptr<Watcher::Group> Watcher::make_group(std::optional<Id> principal) {
  auto made = std::make_shared<Group>(++last_number_, principal, folders_per_copy_max_);
  groups_[made->number] = made;
  return made;
}

std::shared_ptr<Watcher::Group> Watcher::choose_group(const Id& principal) {
  if (own_instances_ < own_instances_max_) {
    auto own = make_group(std::nullopt);
    if (own->watch.open()) {
      ++own_instances_;
      return own;
    }
    groups_.erase(own->number);
  }
  auto& shared = shared_[principal];
  auto group = shared.lock();
  if (!group) shared = group = make_group(principal);
  return group;
}

void Watcher::add(const Id& session, const Id& principal, const WorkingCopy& copy) {
  remove(session);
  std::shared_ptr<Group> group;
  {
    MutexLock lock(mutex_);
    group = sessions_[session] = choose_group(principal);
    ++group->sessions;
  }
  listen_to(*group);
  group->watch.add(session, copy);
  end_call(*group);
}

std::shared_ptr<Watcher::Group> Watcher::find(const Id& session) {
  MutexLock lock(mutex_);
  auto found = sessions_.find(session);
  return found == sessions_.end() ? nullptr : found->second;
}

void Watcher::remove(const Id& session) {
  auto group = find(session);
  if (!group) return;
  group->watch.remove(session);
  end_call(*group);
  MutexLock lock(mutex_);
  sessions_.erase(session);
  if (--group->sessions > 0) return;
  groups_.erase(group->number);
  if (group->principal)
    shared_.erase(*group->principal);
  else
    --own_instances_;
}

Touched Watcher::take(const Id& session) {
  auto group = find(session);
  if (!group) return {};
  listen_to(*group);
  auto touched = group->watch.take(session);
  end_call(*group);
  return touched;
}

void Watcher::put_back(const Id& session, const Touched& touched) {
  auto group = find(session);
  if (!group) return;
  group->watch.put_back(session, touched);
  end_call(*group);
}

bool Watcher::anything(const Id& session) {
  auto group = find(session);
  if (!group) return false;
  bool any = group->watch.anything(session);
  end_call(*group);
  return any;
}

}  // namespace sk::interpreter
