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
#include "interpreter/run/output_budget.h"

namespace sk::interpreter {

struct ExecutionEvent {
  int64_t number = 0;  // from 1
  Event event;
};

// Any thread. Its size is bounded: the collector limits the outputs, pieces of text share one buffer, cleared
// outputs and answered tool calls are forgotten, and files over a limit are told to followers but not stored.
class ExecutionFeed {
 public:
  // `budget`: the memory for outputs of all executions; null: unlimited.
  explicit ExecutionFeed(std::shared_ptr<OutputBudget> budget = nullptr) : share_(std::move(budget)) {}

  // Takes memory for an output from the budget, until the feed is destroyed. False when there is none left.
  bool reserve(size_t bytes);
  // The memory that it took.
  size_t bytes() const;
  std::shared_ptr<OutputBudget> budget() const;

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
  // It must be short. unfollow() waits for a call in progress. Past pieces of text arrive joined, under the
  // number of the last piece.
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
  // One event, or several pieces of text of one stream, joined.
  struct Stored {
    int64_t number = 0;  // of the event, or of the first piece
    Event event;
    std::vector<uint32_t> ends = {};  // of a text: where each piece ends

    int64_t last_number() const {
      return ends.empty() ? number : number + static_cast<int64_t>(ends.size()) - 1;
    }
    // The part after an event's number, as one event.
    ExecutionEvent after(int64_t earlier) const;
  };

  void store(int64_t number, const Event& event) SK_REQUIRES(mutex_);
  bool join_text(int64_t number, const Event& event) SK_REQUIRES(mutex_);

  mutable Mutex mutex_;  // held while followers are called, which keeps their order
  std::vector<Stored> events_ SK_GUARDED_BY(mutex_);
  int64_t last_number_ SK_GUARDED_BY(mutex_) = 0;
  size_t files_ SK_GUARDED_BY(mutex_) = 0;
  OutputShare share_ SK_GUARDED_BY(mutex_);
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
