// Handles requests that clients send again because they did not get the answer. Each must get the execution
// of the first request instead of running its code again.
//
// A request with a key gets the execution of that key from the catalog, for a day. A request without a key,
// whose client marks it as a repeat, gets the session's newest execution if that has the same code and its
// answer was not delivered: it still runs, its client disconnected, or a killed server left it as `crash`.
#pragma once

#include <deque>
#include <optional>

#include "base/mutex.h"
#include "interpreter/records.h"
#include "interpreter/run/live_session.h"
#include "interpreter/run/record_saver.h"

namespace sk::interpreter {

// Any thread. Call find() under the session's lease, so that two equal requests are ordered.
class Repeats {
 public:
  // All parameters outlive it. `saver` has the executions that are not in the catalog yet.
  Repeats(Records& records, RecordSaver& saver, const Clock& clock)
      : records_(records), saver_(saver), clock_(clock), started_us_(clock.now_us()) {}

  // The execution that `wanted` repeats; nullopt for a first request. `live`: the session, if it is awake.
  // Error(conflict) when the key was used for other code.
  std::optional<RunningExecution> find(const Id& session, LiveSession* live, const NewExecution& wanted);
  // Notes that the waiting client disconnected without the answer.
  void note_unanswered(const Id& execution);

 private:
  std::optional<RunningExecution> find_by_key(const Id& session, LiveSession* live,
                                              const NewExecution& wanted);
  std::optional<RunningExecution> find_newest(const Id& session, LiveSession* live,
                                              const NewExecution& wanted);
  bool take_unanswered(const Id& execution);

  Records& records_;
  RecordSaver& saver_;
  const Clock& clock_;
  const TimeUs started_us_;
  Mutex mutex_;
  std::deque<Id> unanswered_ SK_GUARDED_BY(mutex_);  // the newest last
};

}  // namespace sk::interpreter
