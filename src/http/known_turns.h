// The clients behind credentials: requests with different keys of one principal share one turn, once each key
// was accepted. Without it, a principal with many keys would have as many turns.
#pragma once

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/id.h"
#include "base/mutex.h"
#include "http/message.h"

namespace sk::http {

// Any thread. Forgets all of it when it is full: the next request with each key teaches it again.
class KnownTurns {
 public:
  // The turn for a credential (see turn_of()): that of its owner, or its own while the owner is unknown.
  Id of(const Id& credential) const {
    MutexLock lock(mutex_);
    auto found = owners_.find(credential);
    return found == owners_.end() ? credential : found->second;
  }
  // Call when the request may have been authenticated, which sets its owner.
  void learn(const Id& credential, const Request& request) {
    if (request.owner == request.remote_address) return;
    Id turn;
    std::memcpy(turn.bytes.data(), request.owner.data(), std::min(request.owner.size(), turn.bytes.size()));
    MutexLock lock(mutex_);
    if (owners_.size() >= kMax && !owners_.contains(credential)) owners_.clear();
    owners_[credential] = turn;
  }

 private:
  static constexpr size_t kMax = 65'536;
  mutable Mutex mutex_;
  std::unordered_map<Id, Id> owners_ SK_GUARDED_BY(mutex_);  // by credential
};

}  // namespace sk::http
