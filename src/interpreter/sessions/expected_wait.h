// Estimates when a busy session has room again, for the `Retry-After` of a refused request.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "interpreter/run/live_session.h"

namespace sk::interpreter {

// All results are from 1 to this. A client that waits longer would lose its place to those that ask again.
constexpr int64_t kExpectedWaitMaxS = 30;

// Returns in how many seconds the running execution of the session is likely to end. One that has run for a
// while is expected to run for as long again, but not beyond its time limit. Any thread.
int64_t until_one_ends_s(const LiveSession& session, TimeUs now_us);

// Returns in how many seconds the first of the sessions is likely to be idle, so that it can sleep. With
// `owner`, considers only that owner's sessions. Any thread.
int64_t until_one_is_idle_s(const std::vector<std::shared_ptr<LiveSession>>& live,
                            const std::optional<Id>& owner, TimeUs now_us);

}  // namespace sk::interpreter
