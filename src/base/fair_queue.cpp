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

// Puts a key at the end of the turns, if it may run a job.
void FairQueue::line_up(const Id& id, Key& key) {
  if (key.in_turns || key.jobs.empty() || key.running >= limits_.running_per_key_max) return;
  key.in_turns = true;
  turns_.push_back(id);
}

std::optional<FairQueue::Taken> FairQueue::take() {
  if (turns_.empty()) return std::nullopt;
  Taken taken{turns_.front(), {}};
  turns_.pop_front();
  Key& key = keys_.find(taken.key)->second;
  key.in_turns = false;
  taken.job = std::move(key.jobs.front());
  key.jobs.pop_front();
  --waiting_;
  ++key.running;
  ++running_;
  line_up(taken.key, key);
  return taken;
}

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
// job of that key, since each thread goes on until no job may run.
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
      taken->job();
      taken->job = nullptr;  // release the job's captures before its key may run the next one
    }
    MutexLock lock(mutex_);
    queue_.done(taken->key);
  }
}

}  // namespace sk
