#include "interpreter/run/kernel_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>

#include "base/error.h"

namespace sk::interpreter {

namespace {

constexpr auto kTickPeriod = std::chrono::milliseconds(100);

}  // namespace

KernelLoop::KernelLoop()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!epoll_ || !wake_) throw system_error("cannot wait for interpreters", errno);
  epoll_event event{EPOLLIN, {.fd = wake_.get()}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event);
}

KernelLoop::~KernelLoop() { stop(); }

void KernelLoop::start(std::function<void()> tick) {
  thread_ = std::thread([this, tick = std::move(tick)] { run(tick); });
}

void KernelLoop::stop() {
  if (stopping_.exchange(true)) return;
  uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(wake_.get(), &one, sizeof one);
  if (thread_.joinable()) thread_.join();
}

void KernelLoop::run(const std::function<void()>& tick) {
  using std::chrono::steady_clock;
  auto next_tick = steady_clock::now() + kTickPeriod;
  while (!stopping_) {
    epoll_event events[64];
    auto wait =
        std::chrono::duration_cast<std::chrono::milliseconds>(next_tick - steady_clock::now()).count();
    int count = ::epoll_wait(epoll_.get(), events, 64, static_cast<int>(std::max<int64_t>(0, wait)));
    for (int i = 0; i < count; ++i) {
      std::function<void()> on_ready;
      {
        MutexLock lock(mutex_);
        auto found = by_fd_.find(events[i].data.fd);
        if (found != by_fd_.end()) on_ready = found->second;
      }
      if (on_ready) on_ready();
    }
    if (steady_clock::now() < next_tick) continue;
    next_tick = steady_clock::now() + kTickPeriod;
    tick();
  }
}

void KernelLoop::watch(int fd, std::function<void()> on_ready) {
  {
    MutexLock lock(mutex_);
    by_fd_[fd] = std::move(on_ready);
  }
  epoll_event event{EPOLLIN | EPOLLONESHOT, {.fd = fd}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void KernelLoop::rearm(int fd) {
  epoll_event event{EPOLLIN | EPOLLONESHOT, {.fd = fd}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void KernelLoop::forget(int fd) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  MutexLock lock(mutex_);
  by_fd_.erase(fd);
}

}  // namespace sk::interpreter
