// The nursery's own thread: fills the pool, renews the zygote, and cleans up after sessions.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/log.h"
#include "sandbox/meter.h"
#include "sandbox/nursery.h"
#include "sandbox/steady.h"

namespace sk::sandbox {

namespace {

constexpr int64_t kPatienceMinUs = 500'000, kPatienceMaxUs = 30'000'000;
// A new session usually runs a first cell at once. The pool is not filled during that time, unless there is
// demand.
constexpr int64_t kFirstCellUs = 50'000;
constexpr int64_t kInDemandUs = 1'000'000;
constexpr int kRemainsLookMs = 20;  // a control group may be busy shortly after its last process

}  // namespace

void Nursery::wake() {
  uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(wake_.get(), &one, sizeof one);  // a full counter wakes too
}

void Nursery::keep() {
  for (;;) {
    bool stopping;
    {
      MutexLock lock(mutex_);
      stopping = stopping_;
    }
    if (stopping) {
      coming_.reset();
      std::deque<std::unique_ptr<SessionParts>> unused;
      {
        MutexLock lock(mutex_);
        unused.swap(pool_);
      }
      for (auto& parts : unused) dispose(std::move(parts));
    } else {
      renew_launcher();
      renew_zygote();
      fill_pool();
    }
    clear_remains();
    if (stopping) {
      MutexLock lock(mutex_);
      if (remains_.empty()) break;
    }
    sleep_until_needed();
  }
  MutexLock lock(mutex_);
  zygote_.reset();
  launcher_.reset();
}

void Nursery::renew_zygote() {
  auto now_us = steady_us();
  if (coming_ && coming_->wait_ready(0)) {
    patience_us_ = 0;
    zygote_since_us_ = now_us;
    forks_of_zygote_ = 0;
    MutexLock lock(mutex_);
    zygote_ = std::move(coming_);
    zygote_ready_.notify_all();
  } else if (coming_ && !coming_->alive()) {
    coming_.reset();
    try_later("Python did not start in the sandbox", "it ended; the lines above are its own");
  }
  bool wanted;
  {
    MutexLock lock(mutex_);
    if (zygote_ && !zygote_->alive()) {
      log::error("the zygote has ended; its sessions go on, and another is started");
      zygote_.reset();
    }
    wanted = !zygote_ || forks_of_zygote_ >= options_.zygote_forks_max ||
             now_us - zygote_since_us_ >= options_.zygote_age_max_s * 1'000'000;
  }
  if (wanted && !coming_ && now_us >= next_try_us_) start_zygote();
}

// Replaces a dead launcher. It normally lives as long as the server. Running sessions do not need it.
void Nursery::renew_launcher() {
  if (current_launcher()->alive() || steady_us() < next_try_us_) return;
  log::error("the sandbox's launcher has ended; another is started");
  try {
    auto launcher = std::make_shared<Launcher>(shared_.privileged.start_launcher(options_.plan));
    // Discard everything that the old launcher started; the new one does not know it.
    coming_.reset();
    std::deque<std::unique_ptr<SessionParts>> unused;
    {
      MutexLock lock(mutex_);
      launcher_ = std::move(launcher);
      zygote_.reset();
      unused.swap(pool_);
      pooled_.set(0);
    }
    for (auto& parts : unused) dispose(std::move(parts));
  } catch (const Error& error) {
    try_later("cannot start the sandbox's launcher", error.message());
  }
}

void Nursery::try_later(std::string_view what, std::string_view why) {
  patience_us_ = std::clamp(patience_us_ * 2, kPatienceMinUs, kPatienceMaxUs);
  next_try_us_ = steady_us() + patience_us_;
  log::error(what, {{"why", why}, {"next_try_s", patience_us_ / 1'000'000}});
}

void Nursery::start_zygote() {
  try {
    coming_ = std::make_shared<Zygote>(*current_launcher());
    std::erase_if(zygotes_, [](const auto& zygote) { return zygote.expired(); });
    zygotes_.push_back(coming_);
    zygotes_started_.add();
  } catch (const Error& error) {
    try_later("cannot start Python in the sandbox", error.message());
  }
}

void Nursery::fill_pool() {
  auto now_us = steady_us();
  bool in_demand;
  {
    MutexLock lock(mutex_);
    if (!zygote_ || pool_.size() >= options_.pool_size || now_us < next_fill_us_) return;
    if (!pool_.empty() && now_us < taken_us_ + kFirstCellUs) return;
    in_demand = pool_.empty() && now_us < taken_us_ + kInDemandUs;
  }
  try {
    auto parts = prepare(in_demand ? Zygote::Urgency::somebody_waits : Zygote::Urgency::none);
    MutexLock lock(mutex_);
    pool_.push_back(std::move(parts));
    pooled_.set(static_cast<int64_t>(pool_.size()));
    if (pool_.size() < options_.pool_size) wake();  // one per round, so other tasks get a turn
  } catch (const Error& error) {
    next_fill_us_ = now_us + kPatienceMinUs;
    log::warn("cannot prepare a sandbox", {{"why", error.message()}});
  }
}

void Nursery::clear_remains() {
  std::vector<std::unique_ptr<SessionParts>> taken;
  {
    MutexLock lock(mutex_);
    taken.swap(remains_);
  }
  std::erase_if(taken, [this](auto& parts) {
    if (parts->init_pidfd && !wait_readable(parts->init_pidfd.get(), 0)) return false;
    if (parts->cgroup && !parts->cgroup->remove()) return false;
    if (parts->main_pid) parts->zygote->take_status(parts->main_pid);
    shared_.ids.release(parts->uid);
    refused_calls_.add(read_refusals(parts->refusals.get()));
    return true;
  });
  MutexLock lock(mutex_);
  for (auto& parts : taken) remains_.push_back(std::move(parts));
}

void Nursery::sleep_until_needed() {
  std::vector<pollfd> waits{{wake_.get(), POLLIN, 0}};
  int timeout_ms = 60'000;
  if (coming_) waits.push_back({coming_->ready_fd(), POLLIN, 0});
  std::vector<std::shared_ptr<Zygote>> held;
  for (const auto& weak : zygotes_)
    if (auto zygote = weak.lock()) held.push_back(std::move(zygote));
  auto launcher = current_launcher();
  waits.push_back({launcher->ended_fd(), POLLIN, 0});
  size_t first_report = waits.size();
  for (const auto& zygote : held) waits.push_back({zygote->reports_fd(), POLLIN, 0});
  {
    MutexLock lock(mutex_);
    for (const auto& parts : remains_) {
      if (parts->init_pidfd && !wait_readable(parts->init_pidfd.get(), 0))
        waits.push_back({parts->init_pidfd.get(), POLLIN, 0});
      else
        timeout_ms = kRemainsLookMs;
    }
    if ((!zygote_ && !coming_) || !launcher->alive())
      timeout_ms = std::min<int>(timeout_ms, static_cast<int>(kPatienceMinUs / 1000));
    if (zygote_ && pool_.size() < options_.pool_size) {
      bool waits_for_first_cell = !pool_.empty() && steady_us() < taken_us_ + kFirstCellUs;
      timeout_ms = std::min<int>(
          timeout_ms, static_cast<int>((waits_for_first_cell ? kFirstCellUs : kPatienceMinUs) / 1000));
    }
  }
  ::poll(waits.data(), waits.size(), timeout_ms);
  uint64_t count;
  [[maybe_unused]] auto got = ::read(wake_.get(), &count, sizeof count);
  for (size_t i = 0; i < held.size(); ++i) {
    if (!(waits[first_report + i].revents) || held[i]->collect_reports()) continue;
    // The zygote has ended; no more reports follow.
    std::erase_if(zygotes_, [&](const auto& weak) { return weak.lock() == held[i]; });
  }
}

}  // namespace sk::sandbox
