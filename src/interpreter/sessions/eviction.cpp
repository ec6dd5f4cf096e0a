#include "interpreter/sessions/eviction.h"

#include <algorithm>

namespace sk::interpreter {

namespace {

constexpr int64_t kUsedJustNowUs = kSecondUs;
constexpr uint64_t kOwnProcesses = 1;  // the kernel, which has one thread

}  // namespace

bool must_end(const LiveSession& session, TimeUs now_us) {
  if (session.busy()) return false;
  int64_t idle_us = session.info().idle_s * kSecondUs;
  int64_t awake_max_us = session.info().awake_max_s * kSecondUs;
  bool idle = idle_us > 0 && now_us - session.active_us() > idle_us;
  bool over = !session.awake() && now_us - session.active_us() > 60 * kSecondUs;
  bool long_awake = session.awake() && awake_max_us > 0 && now_us - session.awake_since_us() > awake_max_us;
  return idle || over || long_awake;
}

bool overstays_in_background(const LiveSession& session, TimeUs now_us, int64_t background_time_max_s) {
  if (background_time_max_s == 0 || session.busy() || !session.awake()) return false;
  if (now_us - session.active_us() <= background_time_max_s * kSecondUs) return false;
  return session.usage().processes > kOwnProcesses;
}

std::string background_note(int64_t background_time_max_s) {
  return "The session was asleep: processes that an earlier cell had started still ran " +
         std::to_string(background_time_max_s) +
         " s after the last cell, which is the limit (background_time_max_s). They were ended; files are "
         "kept.";
}

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
    // A session in use is not taken for another principal. Owners decide about their own.
    bool may_go = owner || awake_of[session->info().owner] > share;
    if (!may_go && now_us - session->active_us() < kUsedJustNowUs) continue;
    if (!chosen || rank(*session) > rank(*chosen)) chosen = session;
  }
  return chosen;
}

}  // namespace sk::interpreter
