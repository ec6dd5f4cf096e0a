// Chooses the sessions to put to sleep: those whose time is over, and one when there is no room for another.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "interpreter/run/live_session.h"

namespace sk::interpreter {

// Whether a session has been idle or awake for as long as it may.
bool must_end(const LiveSession& session, TimeUs now_us);

// Whether processes or threads outlive the last cell for longer than they may. Measures a session only after
// that time; 0: never.
bool overstays_in_background(const LiveSession& session, TimeUs now_us, int64_t background_time_max_s);
// The sentence for the next answer of such a session.
std::string background_note(int64_t background_time_max_s);

// Returns the least recently used idle session of the principal that has most. Leaves out sessions that were
// just used, unless their owner has more than a fair share of the server. With `owner`, considers only that
// owner's sessions, also those that were just used. Null when there is none.
std::shared_ptr<LiveSession> choose_evicted(const std::vector<std::shared_ptr<LiveSession>>& live,
                                            const Id& guest, const std::optional<Id>& owner,
                                            size_t sessions_max, TimeUs now_us);

}  // namespace sk::interpreter
