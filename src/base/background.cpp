#include "base/background.h"

namespace sk {

namespace {
// Short jobs mostly read a few rows. More threads would compete with requests for the catalog's readers.
constexpr size_t kShortJobThreads = 4;
// A collection and a verification can run at the same time, but only one of each.
constexpr size_t kChoreThreads = 2;
constexpr size_t kChoresWaitingMax = 8;
// One transfer keeps one core busy with hashing.
constexpr size_t kTransferThreads = 4;
}  // namespace

Background::Background()
    : short_jobs_(kShortJobThreads, 0),
      chores_(kChoreThreads, kChoresWaitingMax),
      transfers_(kTransferThreads, 0),
      timer_thread_([this] { watch_timers(); }) {}

Background::~Background() { stop(); }

void Background::run(std::function<void()> job) { short_jobs_.submit_always(std::move(job)); }

void Background::run_after(std::chrono::milliseconds delay, std::function<void()> job) {
  {
    MutexLock lock(mutex_);
    timers_.emplace(std::chrono::steady_clock::now() + delay, std::move(job));
  }
  wake_.notify_one();
}

uint64_t Background::on_close(std::function<void()> job) {
  MutexLock lock(mutex_);
  uint64_t number = next_at_close_++;
  if (!closed_) {
    at_close_.emplace(number, std::move(job));
    return number;
  }
  lock.unlock();
  run(std::move(job));
  return number;
}

void Background::forget(uint64_t number) {
  MutexLock lock(mutex_);
  at_close_.erase(number);
}

void Background::close() {
  std::map<uint64_t, std::function<void()>> jobs;
  {
    MutexLock lock(mutex_);
    closed_ = true;
    jobs.swap(at_close_);
  }
  for (auto& [number, job] : jobs) run(std::move(job));
}

bool Background::run_chore(std::function<void()> job) { return chores_.submit(std::move(job)); }

void Background::run_transfer(std::function<void()> job) { transfers_.submit_always(std::move(job)); }

void Background::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (timer_thread_.joinable()) timer_thread_.join();
  chores_.stop();
  transfers_.stop();
  short_jobs_.stop();
}

void Background::watch_timers() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    if (timers_.empty()) {
      wake_.wait(lock);
      continue;
    }
    auto first = timers_.begin();
    if (first->first > std::chrono::steady_clock::now()) {
      auto due = first->first;
      wake_.wait_until(lock, due);
      continue;
    }
    auto job = std::move(first->second);
    timers_.erase(first);
    run(std::move(job));
  }
}

}  // namespace sk
