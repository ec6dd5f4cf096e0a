#include "http/mhd/socket_watcher.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/error.h"

namespace sk::http {

namespace {
constexpr SocketWatcher::Id kWake = 0;
}

SocketWatcher::SocketWatcher()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!epoll_ || !wake_) throw system_error("cannot make an epoll set", errno);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWake;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0)
    throw system_error("epoll_ctl", errno);
  thread_ = std::thread([this] { run(); });
}

SocketWatcher::~SocketWatcher() {
  {
    MutexLock lock(mutex_);
    exiting_ = true;
  }
  wake();
  thread_.join();
}

SocketWatcher::Id SocketWatcher::watch(int fd, std::optional<Time> due, Callback callback, Stop stop) {
  bool sooner;
  Id id;
  {
    MutexLock lock(mutex_);
    id = next_id_++;
    if (cancelled_ && stop <= *cancelled_) due = Time::min();
    sooner = due && (by_due_.empty() || *due < by_due_.begin()->first);
    entries_.emplace(id, Entry{fd, due, std::move(callback), stop});
    if (due) by_due_.emplace(*due, id);
    if (fd >= 0) {
      epoll_event event{};
      event.events = EPOLLRDHUP | EPOLLONESHOT;  // EPOLLHUP and EPOLLERR are always reported
      event.data.u64 = id;
      SK_CHECK(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0,
               "watching a socket: " + std::to_string(errno));
    }
  }
  if (sooner) wake();
  return id;
}

void SocketWatcher::forget(Id id) { take(id); }

void SocketWatcher::cancel(Stop up_to) {
  {
    MutexLock lock(mutex_);
    cancelled_ = std::max(cancelled_.value_or(up_to), up_to);
    by_due_.clear();
    for (auto& [id, entry] : entries_) {
      if (entry.stop <= *cancelled_) entry.due = Time::min();
      if (entry.due) by_due_.emplace(*entry.due, id);
    }
  }
  wake();
}

SocketWatcher::Callback SocketWatcher::take(Id id) {
  MutexLock lock(mutex_);
  return take_locked(id);
}

SocketWatcher::Callback SocketWatcher::take_locked(Id id) {
  auto found = entries_.find(id);
  if (found == entries_.end()) return {};
  Entry entry = std::move(found->second);
  entries_.erase(found);
  if (entry.due) {
    auto [first, last] = by_due_.equal_range(*entry.due);
    for (auto it = first; it != last; ++it) {
      if (it->second != id) continue;
      by_due_.erase(it);
      break;
    }
  }
  if (entry.fd >= 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, entry.fd, nullptr);
  return std::move(entry.callback);
}

void SocketWatcher::wake() {
  uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(wake_.get(), &one, sizeof one);
}

int SocketWatcher::timeout_ms() {
  MutexLock lock(mutex_);
  if (by_due_.empty()) return -1;
  auto due = by_due_.begin()->first;
  auto now = std::chrono::steady_clock::now();
  if (due <= now) return 0;
  auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(due - now).count() + 1;
  return static_cast<int>(std::min<int64_t>(ms, 60'000));
}

void SocketWatcher::fire_due() {
  for (;;) {
    Callback callback;
    Event event;
    {
      MutexLock lock(mutex_);
      if (by_due_.empty() || by_due_.begin()->first > std::chrono::steady_clock::now()) return;
      event = by_due_.begin()->first == Time::min() ? Event::stopping : Event::due;
      callback = take_locked(by_due_.begin()->second);
    }
    callback(event);
  }
}

void SocketWatcher::run() {
  std::array<epoll_event, 64> events;
  for (;;) {
    int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms());
    SK_CHECK(count >= 0 || errno == EINTR, "epoll_wait");
    for (int i = 0; i < count; ++i) {
      if (events[static_cast<size_t>(i)].data.u64 == kWake) {
        uint64_t drained;
        [[maybe_unused]] auto got = ::read(wake_.get(), &drained, sizeof drained);
      } else if (auto callback = take(events[static_cast<size_t>(i)].data.u64)) {
        callback(Event::disconnected);
      }
    }
    fire_due();
    MutexLock lock(mutex_);
    if (exiting_) return;
  }
}

}  // namespace sk::http
