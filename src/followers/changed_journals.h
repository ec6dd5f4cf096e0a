// The journals that grew since someone last looked, as the Feed reports them. Bounded: above a number of
// workspaces it only knows that any journal may have grown.
#pragma once

#include <functional>
#include <unordered_set>

#include "base/id.h"
#include "base/mutex.h"
#include "workspace/feed.h"

namespace sk::followers {

// A value: some workspaces, or any.
class JournalSet {
 public:
  explicit JournalSet(size_t most = 10'000) : most_(most) {}

  // Becomes "any" when it holds more than `most`.
  void add(const Id& workspace);
  void add(const JournalSet& others);
  void remove(const Id& workspace) { ids_.erase(workspace); }
  void clear();
  bool contains(const Id& workspace) const { return any_ || ids_.contains(workspace); }
  bool empty() const { return !any_ && ids_.empty(); }
  // Whether ids() is not the whole set: every journal may have grown.
  bool any() const { return any_; }
  const std::unordered_set<Id>& ids() const { return ids_; }

 private:
  size_t most_;
  bool any_ = false;
  std::unordered_set<Id> ids_;
};

// Any thread. `feed` outlives it.
class ChangedJournals {
 public:
  // `on_first` runs on the committing thread when a journal grows after take() had emptied the set. It must
  // be short, and must not call the Feed, this object or the database. It does not run after the destructor
  // returns.
  ChangedJournals(workspace::Feed& feed, std::function<void()> on_first, size_t most = 10'000);

  // Returns the journals that grew since the last call. Later commits count for the next call.
  JournalSet take();

 private:
  void note(const Id& workspace);

  const std::function<void()> on_first_;
  const size_t most_;
  Mutex mutex_;
  JournalSet changed_ SK_GUARDED_BY(mutex_);
  workspace::Feed::Subscription subscription_;  // last: its callback uses all of the above
};

}  // namespace sk::followers
