#include "base/fair_queue.h"

#include <utility>

#include "base/on_behalf.h"

namespace sk {

bool FairQueue::has_room(const Id& key) const {
  if (waiting_ >= limits_.waiting_max) return false;
  auto found = keys_.find(key);
  return found == keys_.end() || found->second.jobs.size() < limits_.waiting_per_key_max;
}

void FairQueue::push(const Id& key, Job job) {
  Key& mine = keys_[key];
  mine.jobs.push_back(std::move(job));
  ++waiting_;
  line_up(key, mine);
}

bool FairQueue::may_run(const Key& key) const {
  return !key.jobs.empty() && key.running < limits_.running_per_key_max &&
         key.running - key.paused < limits_.computing_per_key_max;
}

// Puts a key at the end of the turns, if it may run a job. Returns whether it was not there before.
bool FairQueue::line_up(const Id& id, Key& key) {
  if (key.in_turns || !may_run(key)) return false;
  key.in_turns = true;
  turns_.push_back(id);
  return true;
}

std::optional<FairQueue::Taken> FairQueue::take() {
  while (!turns_.empty()) {
    Taken taken{turns_.front(), {}};
    turns_.pop_front();
    Key& key = keys_.find(taken.key)->second;
    key.in_turns = false;
    if (!may_run(key)) continue;  // a job was resumed since; done() or pause() lines it up again
    taken.job = std::move(key.jobs.front());
    key.jobs.pop_front();
    --waiting_;
    ++key.running;
    ++running_;
    line_up(taken.key, key);
    return taken;
  }
  return std::nullopt;
}

bool FairQueue::pause(const Id& key) {
  auto found = keys_.find(key);
  ++found->second.paused;
  return line_up(key, found->second);
}

void FairQueue::resume(const Id& key) { --keys_.find(key)->second.paused; }

void FairQueue::done(const Id& key) {
  auto found = keys_.find(key);
  --found->second.running;
  --running_;
  line_up(key, found->second);
  if (found->second.running == 0 && found->second.jobs.empty()) keys_.erase(found);
}

std::vector<FairQueue::KeyLoad> FairQueue::loads() const {
  std::vector<KeyLoad> out;
  out.reserve(keys_.size());
  for (const auto& [id, key] : keys_) out.push_back({id, key.running, key.jobs.size()});
  return out;
}

// The jobs of the threads below are calls of run(), one for each job of the queue: only their number counts.
FairLoad FairPool::load() const {
  size_t threads = threads_.load().threads;
  MutexLock lock(mutex_);
  return {{threads, queue_.running(), queue_.waiting()}, queue_.loads()};
}

bool FairPool::submit(const Id& key, FairQueue::Job job) {
  {
    MutexLock lock(mutex_);
    if (!queue_.has_room(key)) return false;
    queue_.push(key, std::move(job));
  }
  threads_.submit_always([this] { run(); });
  return true;
}

void FairPool::submit_always(const Id& key, FairQueue::Job job) {
  {
    MutexLock lock(mutex_);
    queue_.push(key, std::move(job));
  }
  threads_.submit_always([this] { run(); });
}

// Every job wakes one thread. A job that its key's limit holds back is run by the thread that ends another
// job of that key, since each thread goes on until no job may run, or by one that a pause wakes.
void FairPool::run() {
  for (;;) {
    std::optional<FairQueue::Taken> taken;
    {
      MutexLock lock(mutex_);
      taken = queue_.take();
    }
    if (!taken) return;
    {
      OnBehalfOf tenant(taken->key);
      current() = {this, taken->key};
      taken->job();
      taken->job = nullptr;  // release the job's captures before its key may run the next one
      current() = {};
    }
    MutexLock lock(mutex_);
    queue_.done(taken->key);
  }
}

FairPool::Current& FairPool::current() {
  static thread_local Current job;
  return job;
}

FairPool::Pause::Pause() : pool_(std::exchange(current().pool, nullptr)) {
  if (pool_ == nullptr) return;
  bool is_one_free = false;
  {
    MutexLock lock(pool_->mutex_);
    is_one_free = pool_->queue_.pause(current().key);
  }
  if (is_one_free) pool_->threads_.submit_always([pool = pool_] { pool->run(); });
}

FairPool::Pause::~Pause() {
  if (pool_ == nullptr) return;
  current().pool = pool_;
  MutexLock lock(pool_->mutex_);
  pool_->queue_.resume(current().key);
}

}  // namespace sk
