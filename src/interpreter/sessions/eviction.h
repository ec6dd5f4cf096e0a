// Whose session goes to sleep when there is no room for another one.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "interpreter/run/live_session.h"

namespace sk::interpreter {

// Of whoever has most, the idle one that was unused longest. One that was used just now is left alone, unless
// its owner has more than a fair share of the server. With `owner`, one of theirs. Null when there is none.
std::shared_ptr<LiveSession> choose_evicted(const std::vector<std::shared_ptr<LiveSession>>& live,
                                            const Id& guest, const std::optional<Id>& owner,
                                            size_t sessions_max, TimeUs now_us);

}  // namespace sk::interpreter
