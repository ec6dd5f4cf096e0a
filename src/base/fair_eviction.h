// Shares a bounded table between owners (tenants): decides which entry makes room for a new one. One owner
// never displaces entries of another that has no more than its share.
#pragma once

#include <iterator>
#include <list>
#include <optional>
#include <unordered_map>

#include "base/id.h"

namespace sk {

// The name of an entry is unique among all owners. Not thread-safe; a pure value, like FairQueue.
template <class Entry>
class FairEviction {
 public:
  struct Limits {
    size_t entries_max;  // of all owners
    size_t entries_per_owner_max;
  };
  explicit FairEviction(Limits limits) : limits_(limits) {}

  // Adds an entry as the most recently used one of its owner. Returns the entry that has to leave for it,
  // which is already removed here. An owner over its limit loses its own least recently used entry. In a full
  // table, the owner with the most entries loses its least recently used one; among equals, this owner first.
  [[nodiscard]] std::optional<Entry> add(const Id& owner, const Entry& entry) {
    remove(entry);
    auto leaving = leaving_for(owner);
    if (leaving) remove(*leaving);
    auto& mine = by_owner_[owner];
    mine.push_back({entry, ++uses_});
    places_.emplace(entry, Place{owner, std::prev(mine.end())});
    return leaving;
  }
  // Makes the entry the most recently used one of its owner. An unknown entry has no effect.
  void touch(const Entry& entry) {
    auto found = places_.find(entry);
    if (found == places_.end()) return;
    auto& mine = by_owner_.find(found->second.owner)->second;
    found->second.at->use = ++uses_;
    mine.splice(mine.end(), mine, found->second.at);
  }
  // An unknown entry has no effect.
  void remove(const Entry& entry) {
    auto found = places_.find(entry);
    if (found == places_.end()) return;
    auto owner = by_owner_.find(found->second.owner);
    owner->second.erase(found->second.at);
    if (owner->second.empty()) by_owner_.erase(owner);
    places_.erase(found);
  }

  size_t size() const { return places_.size(); }
  // Owners without entries use no memory.
  size_t owners() const { return by_owner_.size(); }

 private:
  struct Used {
    Entry entry;
    uint64_t use;  // the number of its last use
  };
  using Entries = std::list<Used>;  // least recently used first
  struct Place {
    Id owner;
    typename Entries::iterator at;
  };

  std::optional<Entry> leaving_for(const Id& owner) const {
    auto own = by_owner_.find(owner);
    if (own != by_owner_.end() && own->second.size() >= limits_.entries_per_owner_max)
      return own->second.front().entry;
    if (places_.empty() || places_.size() < limits_.entries_max) return std::nullopt;
    auto most = own;
    for (auto it = by_owner_.begin(); it != by_owner_.end(); ++it)
      if (most == by_owner_.end() || (it != own && is_rather(it->second, most->second, most == own)))
        most = it;
    return most->second.front().entry;
  }
  // Whether `one` loses an entry rather than `other`.
  static bool is_rather(const Entries& one, const Entries& other, bool other_is_own) {
    if (one.size() != other.size()) return one.size() > other.size();
    return !other_is_own && one.front().use < other.front().use;
  }

  const Limits limits_;
  std::unordered_map<Id, Entries> by_owner_;
  std::unordered_map<Entry, Place> places_;
  uint64_t uses_ = 0;
};

}  // namespace sk
