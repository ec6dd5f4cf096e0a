#include "interpreter/run/execution_queue.h"

#include <algorithm>
#include <iterator>

namespace sk::interpreter {

namespace {

constexpr size_t kRecentMax = 50;

}  // namespace

std::optional<QueuedExecution> ExecutionQueue::take_first() {
  if (waiting_.empty()) return std::nullopt;
  QueuedExecution first = std::move(waiting_.front());
  waiting_.pop_front();
  return first;
}

std::optional<QueuedExecution> ExecutionQueue::take(const Id& execution) {
  auto found = std::find_if(waiting_.begin(), waiting_.end(),
                            [&](const auto& one) { return one.execution.id == execution; });
  if (found == waiting_.end()) return std::nullopt;
  QueuedExecution taken = std::move(*found);
  waiting_.erase(found);
  return taken;
}

std::deque<QueuedExecution> ExecutionQueue::take_of(const Id& key) {
  std::deque<QueuedExecution> taken, others;
  for (auto& one : waiting_) (one.key == key ? taken : others).push_back(std::move(one));
  waiting_ = std::move(others);
  return taken;
}

std::deque<QueuedExecution> ExecutionQueue::take_from_first_accepted() {
  auto first =
      std::find_if(waiting_.begin(), waiting_.end(), [](const auto& one) { return one.wanted.accepted; });
  std::deque<QueuedExecution> taken(std::make_move_iterator(first), std::make_move_iterator(waiting_.end()));
  waiting_.erase(first, waiting_.end());
  return taken;
}

void RecentExecutions::add(const QueuedExecution& execution) {
  MutexLock lock(mutex_);
  executions_.push_back(
      {execution.execution.id, execution.execution.number, execution.feed, execution.execution});
  while (executions_.front().feed->finished() && is_over()) executions_.pop_front();
}

bool RecentExecutions::is_over() const {
  size_t bytes = 0;
  for (const auto& one : executions_) bytes += one.feed->bytes();
  return executions_.size() > kRecentMax || bytes > bytes_max_;
}

std::optional<RunningExecution> RecentExecutions::find(const Id& execution) const {
  MutexLock lock(mutex_);
  for (const auto& one : executions_)
    if (one.id == execution) return one;
  return std::nullopt;
}

std::vector<RunningExecution> RecentExecutions::unfinished() const {
  MutexLock lock(mutex_);
  std::vector<RunningExecution> found;
  for (const auto& one : executions_)
    if (!one.feed->finished()) found.push_back(one);
  return found;
}

void RecentExecutions::forget_finished(TimeUs before_us) {
  MutexLock lock(mutex_);
  std::erase_if(executions_, [&](const RunningExecution& one) {
    return one.feed->finished() && one.feed->result().ended_us < before_us;
  });
}

void RecentExecutions::expire_waits(TimeUs now_us) {
  std::vector<std::shared_ptr<ExecutionFeed>> feeds;
  {
    MutexLock lock(mutex_);
    for (const auto& one : executions_) feeds.push_back(one.feed);
  }
  // Not under the mutex: the callbacks may ask for executions at once.
  for (const auto& feed : feeds) feed->expire(now_us);
}

}  // namespace sk::interpreter
