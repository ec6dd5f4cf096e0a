#include "interpreter/sessions/eviction.h"

#include <algorithm>

namespace sk::interpreter {

namespace {

constexpr int64_t kUsedJustNowUs = kSecondUs;

}  // namespace

std::shared_ptr<LiveSession> choose_evicted(const std::vector<std::shared_ptr<LiveSession>>& live,
                                            const Id& guest, const std::optional<Id>& owner,
                                            size_t sessions_max, TimeUs now_us) {
  std::unordered_map<Id, size_t> awake_of;
  for (const auto& session : live) ++awake_of[session->info().owner];
  awake_of.try_emplace(guest, 0);
  size_t share = std::max<size_t>(1, sessions_max / awake_of.size());

  std::shared_ptr<LiveSession> chosen;
  auto rank = [&](const LiveSession& session) {
    return std::pair(awake_of[session.info().owner], -session.active_us());
  };
  for (const auto& session : live) {
    if (session->busy() || (owner && session->info().owner != *owner)) continue;
    bool has_much = !owner && awake_of[session->info().owner] > share;
    if (!has_much && now_us - session->active_us() < kUsedJustNowUs) continue;
    if (!chosen || rank(*session) > rank(*chosen)) chosen = session;
  }
  return chosen;
}

}  // namespace sk::interpreter
