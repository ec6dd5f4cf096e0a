// The executions of one session: those that wait for their turn, and the newest ones, waiting, running or
// finished, as others ask for them.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "interpreter/interpreter.h"

namespace sk::interpreter {

struct QueuedExecution {
  Execution execution;
  NewExecution wanted;
  workspace::Actor actor;
  std::shared_ptr<ExecutionFeed> feed;
};

// In the order of arrival. One thread at a time: the session's strand.
class ExecutionQueue {
 public:
  void push(QueuedExecution execution) { waiting_.push_back(std::move(execution)); }
  bool empty() const { return waiting_.empty(); }

  // Removes and returns an execution. nullopt when there is none.
  std::optional<QueuedExecution> take_first();
  std::optional<QueuedExecution> take(const Id& execution);
  std::deque<QueuedExecution> take_all() { return std::exchange(waiting_, {}); }
  // The first accepted one and everything behind it. For a server that stops: it begins no accepted work any
  // more, and since executions keep their order, what waits behind it cannot begin either.
  std::deque<QueuedExecution> take_from_first_accepted();

 private:
  std::deque<QueuedExecution> waiting_;
};

// The newest executions of a session. One that has not finished is never forgotten. Any thread.
class RecentExecutions {
 public:
  void add(const QueuedExecution& execution);
  std::optional<RunningExecution> find(const Id& execution) const;
  // Waiting or running.
  std::vector<RunningExecution> unfinished() const;
  // Ends the waits whose deadline has passed.
  void expire_waits(TimeUs now_us);

 private:
  mutable Mutex mutex_;
  std::deque<RunningExecution> executions_ SK_GUARDED_BY(mutex_);  // the newest last
};

}  // namespace sk::interpreter
