// Requests that clients send again because they did not hear the answer: each must find the execution of the
// first one instead of running its code a second time.
//
// A request with a key finds the execution of that key in the catalog, for a day. One without a key, whose
// client says that it is a repeat, finds the newest execution of the session if that has the same code and
// nobody got its answer: it still runs, its client left, or a server that was killed left it as `crash`.
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "base/mutex.h"
#include "interpreter/records.h"
#include "interpreter/run/live_session.h"

namespace sk::interpreter {

// Any thread; find() under the session's lease, so that of two equal requests one comes first.
class Repeats {
 public:
  // `flush_records`: afterwards all executions that ended are in the catalog.
  Repeats(Records& records, const Clock& clock, std::function<void()> flush_records)
      : records_(records),
        clock_(clock),
        flush_records_(std::move(flush_records)),
        started_us_(clock.now_us()) {}

  // The execution that `wanted` asks for again; nullopt when this is the first request. `live`: the session,
  // if it is awake. Error(conflict) when the key was used for other code.
  std::optional<RunningExecution> find(const Id& session, LiveSession* live, const NewExecution& wanted);
  // The client that waited for it left without its answer.
  void note_unanswered(const Id& execution);

 private:
  std::optional<RunningExecution> find_by_key(const Id& session, LiveSession* live,
                                              const NewExecution& wanted);
  std::optional<RunningExecution> find_newest(const Id& session, LiveSession* live,
                                              const NewExecution& wanted);
  bool take_unanswered(const Id& execution);

  Records& records_;
  const Clock& clock_;
  const std::function<void()> flush_records_;
  const TimeUs started_us_;
  Mutex mutex_;
  std::deque<Id> unanswered_ SK_GUARDED_BY(mutex_);  // the newest last
};

}  // namespace sk::interpreter
