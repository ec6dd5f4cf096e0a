// The executions of one session: those that wait, and the most recent ones in any state.
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
  workspace::Author author;
  Id key = {};                  // that asked for it; zero for a token
  std::string path_scope = {};  // of the authority that asked for it
  std::shared_ptr<ExecutionFeed> feed;
};

// FIFO. One thread at a time: the session's strand.
class ExecutionQueue {
 public:
  void push(QueuedExecution execution) { waiting_.push_back(std::move(execution)); }
  bool empty() const { return waiting_.empty(); }

  // Removes and returns an execution. nullopt when there is none.
  std::optional<QueuedExecution> take_first();
  std::optional<QueuedExecution> take(const Id& execution);
  // Takes all that a key asked for.
  std::deque<QueuedExecution> take_of(const Id& key);
  std::deque<QueuedExecution> take_all() { return std::exchange(waiting_, {}); }
  // Takes the first accepted execution and all behind it. A server that stops begins no accepted work.
  // Executions keep their order, so those behind it cannot begin either.
  std::deque<QueuedExecution> take_from_first_accepted();

 private:
  std::deque<QueuedExecution> waiting_;
};

// The most recent executions of a session, limited in number and in bytes of output. Never drops an
// unfinished one. Any thread.
class RecentExecutions {
 public:
  explicit RecentExecutions(size_t bytes_max) : bytes_max_(bytes_max) {}

  void add(const QueuedExecution& execution);
  std::optional<RunningExecution> find(const Id& execution) const;
  // Waiting or running executions.
  std::vector<RunningExecution> unfinished() const;
  // Drops those that ended before that time: their records are about to be deleted.
  void forget_finished(TimeUs before_us);
  // Ends the waits whose deadline has passed.
  void expire_waits(TimeUs now_us);

 private:
  bool is_over() const SK_REQUIRES(mutex_);

  const size_t bytes_max_;
  mutable Mutex mutex_;
  std::deque<RunningExecution> executions_ SK_GUARDED_BY(mutex_);  // the newest last
};

}  // namespace sk::interpreter
