// Tools that only the client of an execution has: code asks for them through its kernel, the client hears of
// it in the execution's feed, and brings the results. This remembers which execution waits for them.
#pragma once

#include <optional>

#include "base/mutex.h"
#include "interpreter/run/execution_feed.h"
#include "sandbox/kernel.h"

namespace sk::interpreter {

// Belongs to one session, of which one execution runs at a time. Any thread.
class ClientTools {
 public:
  // Code of the execution waits from now on, and the feed says for what. Error(bad_request) when the request
  // is no list of calls, Error(conflict) when the execution waits already.
  void ask(const sandbox::KernelRequest& request, const Id& execution, ExecutionFeed& feed);
  // Returns the kernel's request that the results are for, which waits no longer. nullopt unless that
  // execution waits for the calls of that event of its feed.
  std::optional<uint64_t> take(const Id& execution, int64_t event);
  // The request of an execution that ended while it waited: nobody will answer it. nullopt when none waits.
  std::optional<uint64_t> drop();

 private:
  struct Waiting {
    Id execution;
    uint64_t request;  // of the kernel
    int64_t event;     // of the feed, that asked
  };
  Mutex mutex_;
  std::optional<Waiting> waiting_ SK_GUARDED_BY(mutex_);
};

}  // namespace sk::interpreter
