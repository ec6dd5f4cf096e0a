// Follows one journal for one client, by a cursor in memory: event streams and long polls. No thread waits.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/background.h"
#include "base/error.h"
#include "base/mutex.h"
#include "followers/watch.h"
#include "workspace/journal.h"
#include "workspace/keep.h"

namespace sk::followers {

// Owned by what answers the client. Calls run on background threads, one at a time, and must be short. They
// must not keep the owner alive: capture a weak_ptr. The destructor does not wait for a running call.
class Tail : public std::enable_shared_from_this<Tail> {
 public:
  // A callback's answer. go_on: read again when the journal grows. later: read again soon, because the client
  // cannot take more now. end: stop.
  enum class Next { go_on, later, end };
  struct Options {
    Id workspace;  // zero: the server's journal
    int64_t after = 0;
    workspace::EventFilter filter;
    size_t batch_max = 50;
  };
  struct Calls {
    // Runs before each read. Says whether the client takes more.
    std::function<Next()> before;
    // Runs before each read. Returns the journal of `Options::workspace`; throws Error when the client may no
    // longer read it.
    std::function<workspace::ReadableJournal()> journal;
    // Gets the events after the last call's, in order; none when the journal grew only by others.
    std::function<Next(const workspace::Events& events)> on_events;
    // Gets the Error that `before`, `journal`, the read or `on_events` threw. No further call follows.
    std::function<void(const Error& error)> on_error;
  };
  // Begins with the events that exist. `keep` and `background` outlive it.
  static std::shared_ptr<Tail> start(workspace::Keep& keep, Background& background, Options options,
                                     Calls calls);

  Tail(workspace::Keep& keep, Background& background, Options options, Calls calls);  // for start()

 private:
  void step();
  Next read() SK_REQUIRES(mutex_);
  void look_again_soon();

  workspace::Journal& journal_;
  Background& background_;
  const Options options_;
  const Calls calls_;
  Mutex mutex_;
  int64_t after_ SK_GUARDED_BY(mutex_);
  bool ended_ SK_GUARDED_BY(mutex_) = false;
  std::optional<Watch> watch_ SK_GUARDED_BY(mutex_);  // set by start()
};

}  // namespace sk::followers
