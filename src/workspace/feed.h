// Notifies subscribers of changes: long polls, event streams, followers of the journal. A notification says
// that something changed, not what.
#pragma once

#include <functional>
#include <map>
#include <unordered_map>

#include "base/id.h"
#include "base/mutex.h"

namespace sk::workspace {

// Any thread. Callbacks run on the committing thread, must be short, and must not call the Feed or the
// database.
class Feed {
 public:
  class Subscription {
   public:
    Subscription() = default;
    Subscription(Subscription&& other) noexcept;
    Subscription& operator=(Subscription&& other) noexcept;
    // Unsubscribes. No callback runs after the destructor returns.
    ~Subscription();

   private:
    friend class Feed;
    Feed* feed_ = nullptr;
    Id workspace_;
    uint64_t number_ = 0;
  };

  // A zero workspace selects the server's journal only.
  [[nodiscard]] Subscription subscribe(const Id& workspace, std::function<void()> on_change);
  // Is notified of every change, with the workspace whose journal grew.
  using OnAnyChange = std::function<void(const Id& workspace)>;
  [[nodiscard]] Subscription subscribe_any(OnAnyChange on_change);
  void notify(const Id& workspace);

 private:
  static Id any_id();
  Subscription add(const Id& workspace, OnAnyChange on_change);
  void unsubscribe(const Id& workspace, uint64_t number);
  Mutex mutex_;
  uint64_t next_ SK_GUARDED_BY(mutex_) = 1;
  std::unordered_map<Id, std::map<uint64_t, OnAnyChange>> by_workspace_ SK_GUARDED_BY(mutex_);
};

}  // namespace sk::workspace
