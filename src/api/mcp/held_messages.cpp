#include "api/mcp/held_messages.h"

#include <algorithm>

#include "api/mcp/legacy_session.h"

namespace sk::api::mcp {

void HeldMessages::add(const std::string& owner, const std::weak_ptr<LegacySession>& session) {
  MutexLock lock(mutex_);
  auto& sessions = by_owner_[owner];
  std::erase_if(sessions, [](const auto& one) { return one.expired(); });
  sessions.push_back(session);
}

void HeldMessages::make_room(const std::string& owner) {
  while (auto over = budget_.over(owner)) {
    auto sessions = largest_first(*over);
    if (std::ranges::none_of(sessions, [](const auto& session) { return session->forget_oldest(); })) return;
  }
}

HeldMessages::Sessions HeldMessages::largest_first(const std::string& owner) {
  Sessions alive;
  {
    MutexLock lock(mutex_);
    auto found = by_owner_.find(owner);
    if (found == by_owner_.end()) return alive;
    std::erase_if(found->second, [](const auto& one) { return one.expired(); });
    for (const auto& one : found->second)
      if (auto session = one.lock()) alive.push_back(std::move(session));
    if (found->second.empty()) by_owner_.erase(found);
  }
  std::vector<std::pair<size_t, size_t>> held;  // bytes, and the place in `alive`
  for (size_t i = 0; i < alive.size(); ++i) held.emplace_back(alive[i]->held_bytes(), i);
  // Among equals, the older session.
  std::ranges::sort(held, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  Sessions out;
  for (const auto& [bytes, place] : held) out.push_back(alive[place]);
  return out;
}

}  // namespace sk::api::mcp
