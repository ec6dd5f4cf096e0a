// States of sessions and executions, and outcomes of executions and their files, as enums. Only outcome.cpp
// knows their names in answers and in the catalog; all other code compares the enums.
#pragma once

#include <optional>
#include <string_view>

namespace sk::interpreter {

enum class SessionStatus { running, asleep, deleted };

// queued → running → done.
enum class ExecutionStatus { queued, running, done };

// How an execution ended.
enum class Outcome {
  ok,
  error,        // an exception, or an exit code other than 0
  interrupted,  // by its client, or because the session or the server was stopped
  timeout,
  oom,   // out of memory
  pids,  // too many processes
  disk,  // too many bytes or files
  crash,
  revoked,  // its key, or its principal's right to write, was taken away before or while it ran
};

// Why an entry of a session's folder is not in the workspace, or not as the head.
enum class UnkeptReason {
  link,
  fifo,
  socket,
  device,
  too_large,
  quota,
  disk_full,
  locked,
  name,
  too_deep,  // in too many folders
  conflict,
  unreadable,
  power_cut,
  error,
};

// How keeping a file changed the workspace.
enum class KeptChange { created, changed, unchanged, recovered };

std::string_view name_of(SessionStatus status);
std::string_view name_of(ExecutionStatus status);
std::string_view name_of(Outcome outcome);
std::string_view name_of(UnkeptReason reason);
std::string_view name_of(KeptChange change);

// nullopt for an unknown name.
std::optional<ExecutionStatus> execution_status_from(std::string_view name);
std::optional<Outcome> outcome_from(std::string_view name);
std::optional<UnkeptReason> unkept_reason_from(std::string_view name);
std::optional<KeptChange> kept_change_from(std::string_view name);

}  // namespace sk::interpreter
