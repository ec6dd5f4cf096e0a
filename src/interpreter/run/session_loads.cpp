#include "interpreter/run/session_loads.h"

namespace sk::interpreter {

std::vector<SessionLoad> loads_of(const std::vector<std::shared_ptr<LiveSession>>& sessions) {
  std::vector<SessionLoad> out;
  out.reserve(sessions.size());
  for (const auto& session : sessions) {
    const SessionInfo& info = session->info();
    SessionLoad load;
    load.id = info.id;
    load.workspace = info.workspace;
    load.owner = info.owner;
    load.name = info.name;
    load.awake_since_us = session->awake() ? session->awake_since_us() : 0;
    load.active_us = session->active_us();
    load.running_since_us = session->running_since_us();
    size_t unfinished = session->queued();
    load.waiting = unfinished - std::min<size_t>(unfinished, load.running_since_us != 0 ? 1 : 0);
    load.memory_bytes_max = info.memory_bytes;
    load.usage = session->usage();
    out.push_back(std::move(load));
  }
  return out;
}

}  // namespace sk::interpreter
