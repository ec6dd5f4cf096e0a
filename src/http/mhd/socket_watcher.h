// Watches suspended connections on one thread, because a suspended connection detects neither a disconnect
// nor a deadline. Also serves as the server's timer. Owned by the server. Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <thread>
#include <unordered_map>

#include "base/fd.h"
#include "base/mutex.h"

namespace sk::http {

class SocketWatcher {
 public:
  using Id = uint64_t;
  using Time = std::chrono::steady_clock::time_point;
  enum class Event { disconnected, due, stopping };
  // When a server stop fires an entry: at its start, or only after the time to finish has passed.
  enum class Stop { early, late };
  using Callback = std::function<void(Event)>;

  SocketWatcher();
  ~SocketWatcher();

  // Calls `callback` once, on the watcher's thread, when the first trigger fires. Triggers are: the client of
  // socket `fd` (-1: none) closes its side, `due` passes, or cancel() includes the entry. The callback must
  // be quick and may call watch() again. `fd` must stay open until then or until forget().
  Id watch(int fd, std::optional<Time> due, Callback callback, Stop stop = Stop::early);
  // Prevents the callback from starting. It may already be running.
  void forget(Id id);
  // Fires entries with Event::stopping, both current and future ones: the early ones, or all.
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
  // Removes the entry and returns its callback, or null when another thread was first.
  Callback take(Id id);
  Callback take_locked(Id id) SK_REQUIRES(mutex_);
  int timeout_ms();
  void fire_due();

  Fd epoll_;
  Fd wake_;
  Mutex mutex_;
  std::unordered_map<Id, Entry> entries_ SK_GUARDED_BY(mutex_);
  std::multimap<Time, Id> by_due_ SK_GUARDED_BY(mutex_);
  Id next_id_ SK_GUARDED_BY(mutex_) = 1;
  std::optional<Stop> cancelled_ SK_GUARDED_BY(mutex_);  // the highest value passed to cancel()
  bool exiting_ SK_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all above
};

}  // namespace sk::http
