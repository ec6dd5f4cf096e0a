// Reads what live sessions do and use, for operators.
#pragma once

#include <memory>
#include <vector>

#include "interpreter/load.h"
#include "interpreter/run/live_session.h"

namespace sk::interpreter {

// Any thread; waits for no session. The figures of one session are read one after the other, so they may
// differ by a moment.
std::vector<SessionLoad> loads_of(const std::vector<std::shared_ptr<LiveSession>>& sessions,
                                  const std::vector<std::shared_ptr<LiveSession>>& ending);

}  // namespace sk::interpreter
