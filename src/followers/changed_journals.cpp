#include "followers/changed_journals.h"

#include <utility>

namespace sk::followers {

void JournalSet::add(const Id& workspace) {
  if (any_) return;
  ids_.insert(workspace);
  if (ids_.size() <= most_) return;
  ids_.clear();
  any_ = true;
}

void JournalSet::add(const JournalSet& others) {
  if (others.any_) {
    ids_.clear();
    any_ = true;
  }
  for (const Id& id : others.ids_) add(id);
}

void JournalSet::clear() {
  any_ = false;
  ids_.clear();
}

ChangedJournals::ChangedJournals(workspace::Feed& feed, std::function<void()> on_first, size_t most)
    : on_first_(std::move(on_first)),
      most_(most),
      changed_(most),
      subscription_(feed.subscribe_any([this](const Id& workspace) { note(workspace); })) {}

JournalSet ChangedJournals::take() {
  MutexLock lock(mutex_);
  return std::exchange(changed_, JournalSet(most_));
}

void ChangedJournals::note(const Id& workspace) {
  bool is_first;
  {
    MutexLock lock(mutex_);
    is_first = changed_.empty();
    changed_.add(workspace);
  }
  if (is_first) on_first_();
}

}  // namespace sk::followers
