// The events of a running execution, for callers that wait for it or follow it. Events have numbers, so that
// a follower whose connection broke can continue.
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

// Any thread. The limit on an execution's output bounds its size.
class ExecutionFeed {
 public:
  // Returns the event's number.
  int64_t add(Event event);
  // Adds the last event. `execution` is complete and its files are durable, or it is still queued: the server
  // stops, and it runs after the restart.
  void finish(Execution execution);
  bool finished() const;
  Execution result() const;  // requires finished()
  // The execution so far: `asked`, the execution when it was queued, with all events applied; the result once
  // finished.
  Execution so_far(Execution asked) const;

  // Calls `on_event` for every event after `after`, past and future, in order, from the thread that adds it.
  // It must be short. unfollow() waits for a call in progress.
  uint64_t follow(int64_t after, std::function<void(const ExecutionEvent&)> on_event);
  void unfollow(uint64_t number);
  // Calls `then` once: with the execution when it is finished (at once if it already is), or with null when
  // expire() finds that the deadline has passed.
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

// Waits until all are finished, at most this long.
void await_all(const std::vector<std::shared_ptr<ExecutionFeed>>& feeds, std::chrono::milliseconds limit);

}  // namespace sk::interpreter
