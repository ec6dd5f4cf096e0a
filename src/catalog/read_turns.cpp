#include "catalog/read_turns.h"

#include <algorithm>

namespace sk::catalog {

namespace {

// Readers that a tenant leaves to others, where there are enough.
constexpr size_t kLeftToOthers = 2;

size_t readers_of_one(size_t readers_max) {
  size_t half = (readers_max + 1) / 2;
  return readers_max > kLeftToOthers ? std::max(half, readers_max - kLeftToOthers) : half;
}

}  // namespace

ReadTurns::ReadTurns(size_t readers_max)
    : readers_max_(readers_max), tenant_max_(readers_of_one(readers_max)) {
  holders_.reserve(readers_max);
}

size_t ReadTurns::held_by(const Id& tenant) const {
  auto found = std::ranges::find(holders_, tenant, &Holder::tenant);
  return found == holders_.end() ? 0 : found->readers;
}

bool ReadTurns::take(const Id& tenant) {
  if (in_use_ == readers_max_) return false;
  auto found = std::ranges::find(holders_, tenant, &Holder::tenant);
  if (found == holders_.end()) {
    holders_.push_back({tenant, 1});
  } else {
    if (found->readers == tenant_max_) return false;
    ++found->readers;
  }
  ++in_use_;
  return true;
}

ReadTurns::Wait* ReadTurns::give_back(const Id& tenant) {
  auto found = std::ranges::find(holders_, tenant, &Holder::tenant);
  if (--found->readers == 0) {
    *found = holders_.back();
    holders_.pop_back();
  }
  --in_use_;
  // One reader became free, so at most one read can begin.
  auto next = waits_.end();
  size_t least = tenant_max_;
  for (auto at = waits_.begin(); at != waits_.end() && least > 0; ++at) {
    size_t held = held_by((*at)->tenant);
    if (held >= least) continue;
    least = held;
    next = at;
  }
  if (next == waits_.end()) return nullptr;
  Wait* wait = *next;
  waits_.erase(next);
  wait->has_reader = take(wait->tenant);
  return wait;
}

}  // namespace sk::catalog
