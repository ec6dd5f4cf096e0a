#include "interpreter/sessions/expected_wait.h"

#include <algorithm>

namespace sk::interpreter {

namespace {

int64_t rest_of_cell_us(const LiveSession& session, TimeUs now_us) {
  TimeUs since_us = session.running_since_us();
  if (since_us == 0) return 0;
  return std::min(now_us - since_us, session.ends_by_us() - now_us);
}

int64_t as_wait_s(int64_t us) { return std::clamp<int64_t>(seconds_until(us, 0), 1, kExpectedWaitMaxS); }

}  // namespace

int64_t until_one_ends_s(const LiveSession& session, TimeUs now_us) {
  return as_wait_s(rest_of_cell_us(session, now_us));
}

int64_t until_one_is_idle_s(const std::vector<std::shared_ptr<LiveSession>>& live,
                            const std::optional<Id>& owner, TimeUs now_us) {
  int64_t shortest_us = kExpectedWaitMaxS * kSecondUs;
  for (const auto& session : live) {
    if (owner && session->info().owner != *owner) continue;
    // Executions that wait in the session are expected to take as long as the one that runs.
    auto unfinished = static_cast<int64_t>(session->queued());
    shortest_us = std::min(shortest_us, rest_of_cell_us(*session, now_us) * unfinished);
  }
  return as_wait_s(shortest_us);
}

}  // namespace sk::interpreter
