// Tools that only the client of an execution has. Code requests them through its kernel, the client sees the
// request in the execution's feed and sends the results. This class records which execution waits for them.
#pragma once

#include <optional>

#include "base/mutex.h"
#include "interpreter/run/execution_feed.h"
#include "sandbox/kernel.h"

namespace sk::interpreter {

// Belongs to one session, of which one execution runs at a time. Any thread.
class ClientTools {
 public:
  // Makes an execution wait for tools and adds the request to its feed. Error(bad_request) when the request
  // is not a list of calls, Error(too_large) when the calls exceed the size that a feed holds,
  // Error(conflict) when the execution already waits.
  void ask(const sandbox::KernelRequest& request, const Id& execution, ExecutionFeed& feed);
  // Takes the waiting kernel request that the results are for. nullopt unless that execution waits for the
  // calls of that event of its feed.
  std::optional<uint64_t> take(const Id& execution, int64_t event);
  // Takes the request of an execution that ended while it waited; it will not be answered. nullopt when none
  // waits.
  std::optional<uint64_t> drop();

 private:
  struct Waiting {
    Id execution;
    uint64_t request;  // number of the kernel's request
    int64_t event;     // number of the `tools` event in the feed
  };
  Mutex mutex_;
  std::optional<Waiting> waiting_ SK_GUARDED_BY(mutex_);
};

}  // namespace sk::interpreter
