#include "http/known_turns.h"

#include <algorithm>
#include <cstring>

namespace sk::http {

void KnownTurns::learn(const Id& credential, const Request& request) {
  const std::string& owner = request.owner;
  if (owner == request.remote_address) return;
  Id turn;
  std::memcpy(turn.bytes.data(), owner.data(), std::min(owner.size(), turn.bytes.size()));
  MutexLock lock(mutex_);
  if (owners_.size() >= kMax && !owners_.contains(credential)) owners_.clear();
  owners_[credential] = turn;
}

}  // namespace sk::http
