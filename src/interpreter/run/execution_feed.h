// What an execution says while it runs, for those who wait for it or follow it. Events have numbers, so that
// a follower whose connection broke goes on where it was.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "interpreter/run/event.h"

namespace sk::interpreter {

struct ExecutionEvent {
  int64_t number = 0;  // from 1
  Event event;
};

// Any thread. Bounded by the limit on an execution's output.
class ExecutionFeed {
 public:
  // Returns the event's number.
  int64_t add(Event event);
  // The last event: `execution` is complete, its files durable. Or it is still queued: the server stops, and
  // it runs after the restart.
  void finish(Execution execution);
  bool finished() const;
  Execution result() const;  // once finished
  // The execution as far as it is: `asked`, as it was queued, with all events so far; the result once
  // finished.
  Execution so_far(Execution asked) const;

  // Calls `on_event` for every event after `after`, first those that were, then those to come, in order, from
  // whatever thread adds them; must be short. unfollow() waits for a call under way.
  uint64_t follow(int64_t after, std::function<void(const ExecutionEvent&)> on_event);
  void unfollow(uint64_t number);
  // Calls `then` once: with the execution when it is finished, at once if it is, or with null when expire()
  // finds that the deadline has passed.
  void await(TimeUs deadline_us, std::function<void(const Execution*)> then);
  // The same without a deadline.
  void on_finish(std::function<void(const Execution&)> when_done);
  // Ends the waits whose deadline has passed.
  void expire(TimeUs now_us);

 private:
  mutable Mutex mutex_;  // held while followers are called, which keeps their order
  std::vector<ExecutionEvent> events_ SK_GUARDED_BY(mutex_);
  std::map<uint64_t, std::function<void(const ExecutionEvent&)>> followers_ SK_GUARDED_BY(mutex_);
  struct Waiter {
    TimeUs deadline_us = 0;
    std::function<void(const Execution*)> then;
  };
  std::vector<Waiter> waiters_ SK_GUARDED_BY(mutex_);
  uint64_t next_ SK_GUARDED_BY(mutex_) = 1;
  std::optional<Execution> result_ SK_GUARDED_BY(mutex_);
};

// Waits until all are finished, for so long at most.
void await_all(const std::vector<std::shared_ptr<ExecutionFeed>>& feeds, std::chrono::milliseconds limit);

}  // namespace sk::interpreter
