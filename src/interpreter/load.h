// What the interpreter does at one moment, for operators: its awake sessions, its queues and its memory for
// outputs. Values.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fair_queue.h"
#include "base/id.h"
#include "sandbox/limits.h"

namespace sk::interpreter {

// The activity of a session that the server holds in memory. `asleep`: its processes were killed or ended by
// themselves, and the next execution wakes it. `ending`: its processes end, and its last files are kept.
enum class SessionActivity { starting, running, idle, ending, asleep };

// A session that is in memory: awake, waking, ending, or without its processes since a moment.
struct SessionLoad {
  Id id;
  Id workspace;
  Id owner;
  std::string name;
  SessionActivity activity = SessionActivity::idle;
  TimeUs awake_since_us = 0;    // 0: not awake
  TimeUs active_us = 0;         // last use
  TimeUs running_since_us = 0;  // of the running cell; 0: none runs
  size_t waiting = 0;           // executions that have not begun, or whose session still wakes for them
  uint64_t memory_bytes_max = 0;
  sandbox::Usage usage;
};

struct InterpreterLoad {
  std::vector<SessionLoad> sessions;
  size_t sessions_max = 0;
  FairLoad threads;  // of the sessions, by principal
  std::vector<std::pair<std::string, PoolLoad>> pools;
  uint64_t output_bytes = 0;  // in memory, of all executions
  uint64_t output_bytes_max = 0;
};

}  // namespace sk::interpreter
