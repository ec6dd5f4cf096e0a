#include "interpreter/run/session_loads.h"

namespace sk::interpreter {

namespace {

SessionLoad load_of(const LiveSession& session) {
  const SessionInfo& info = session.info();
  SessionLoad load;
  load.id = info.id;
  load.workspace = info.workspace;
  load.owner = info.owner;
  load.name = info.name;
  load.awake_since_us = session.awake() ? session.awake_since_us() : 0;
  load.active_us = session.active_us();
  load.running_since_us = session.running_since_us();
  size_t unfinished = session.queued();
  load.waiting = unfinished - std::min<size_t>(unfinished, load.running_since_us != 0 ? 1 : 0);
  load.activity = load.running_since_us != 0 ? SessionActivity::running
                  : load.waiting > 0         ? SessionActivity::starting
                  : load.awake_since_us != 0 ? SessionActivity::idle
                                             : SessionActivity::asleep;
  load.memory_bytes_max = info.memory_bytes;
  load.usage = session.usage();
  return load;
}

}  // namespace

std::vector<SessionLoad> loads_of(const std::vector<std::shared_ptr<LiveSession>>& sessions,
                                  const std::vector<std::shared_ptr<LiveSession>>& ending) {
  std::vector<SessionLoad> out;
  out.reserve(sessions.size() + ending.size());
  for (const auto& session : sessions) out.push_back(load_of(*session));
  for (const auto& session : ending) {
    out.push_back(load_of(*session));
    out.back().activity = SessionActivity::ending;
  }
  return out;
}

}  // namespace sk::interpreter
