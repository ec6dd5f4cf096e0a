// Shares the server's connections between principals. A reply that lasts (an event stream, a long poll, a
// wait for a lock or for an execution) holds its connection. One principal may hold a part of them, and all
// principals together leave a reserve, so that other requests are still answered.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "base/mutex.h"

namespace sk::api {

// Any thread.
class HeldConnections {
 public:
  struct Limits {
    size_t per_owner_max;
    size_t total_max;
  };
  explicit HeldConnections(Limits limits) : state_(std::make_shared<State>(limits)) {}

  // Counts one more connection of the owner until the result is destroyed, which may outlive this object.
  // Error(too_many_requests) at a limit.
  [[nodiscard]] std::shared_ptr<void> hold(const std::string& owner);
  size_t count() const;

 private:
  struct State {
    explicit State(Limits the_limits) : limits(the_limits) {}
    const Limits limits;
    Mutex mutex;
    size_t total SK_GUARDED_BY(mutex) = 0;
    std::unordered_map<std::string, size_t> by_owner SK_GUARDED_BY(mutex);  // owners that hold some
  };
  class Place;

  const std::shared_ptr<State> state_;  // shared with the places
};

}  // namespace sk::api
