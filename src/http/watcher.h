// One thread that waits on behalf of suspended connections: a suspended connection notices neither its
// client's disconnect nor a deadline by itself. Also the server's timer. Owned by the server; any thread may
// call it.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include "base/fd.h"

namespace sk::http {

class Watcher {
 public:
  using Id = uint64_t;
  using Time = std::chrono::steady_clock::time_point;
  enum class Event { disconnected, due, stopping };
  // When a stop of the server reaches an entry: at its beginning, or only when the time to finish is over.
  enum class Stop { early, late };
  using Callback = std::function<void(Event)>;

  Watcher();
  ~Watcher();

  // Calls `callback` once, on the watcher's thread, when the first of these happens: the client of socket
  // `fd` (none: -1) closes its side, `due` passes, or cancel() reaches it. The callback must be quick and may
  // call watch() again. `fd` stays open until then or until forget().
  Id watch(int fd, std::optional<Time> due, Callback callback, Stop stop = Stop::early);
  // The callback is not started any more; it may be running.
  void forget(Id id);
  // Fires entries with Event::stopping, now and for whatever is watched from now on: the early ones, or all.
  void cancel(Stop up_to);

 private:
  struct Entry {
    int fd;
    std::optional<Time> due;
    Callback callback;
    Stop stop;
  };

  void run();
  void wake();
  // Removes the entry and gives its callback; null when somebody else was first.
  Callback take(Id id);
  Callback take_locked(Id id);
  int timeout_ms();
  void fire_due();

  Fd epoll_;
  Fd wake_;
  std::mutex mutex_;  // guards all below
  std::unordered_map<Id, Entry> entries_;
  std::multimap<Time, Id> by_due_;
  Id next_id_ = 1;
  std::optional<Stop> cancelled_;  // what cancel() has reached
  bool exiting_ = false;
  std::thread thread_;  // last: it uses all above
};

}  // namespace sk::http
