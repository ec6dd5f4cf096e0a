// How sessions, executions and the files of an execution stand, as enums. outcome.cpp is the one place that
// knows their names in answers and in the catalog; everything else compares the enums.
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
  error,        // by an exception, or an exit code other than 0
  interrupted,  // by its client, or because the session or the server was stopped
  timeout,
  oom,   // out of memory
  pids,  // too many processes
  disk,  // too many bytes or files
  crash,
};

// Why something in a session's folder is not, or not as the head, in the workspace.
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
  conflict,
  unreadable,
  power_cut,
  error,
};

// What the keeping of a file did to it in the workspace.
enum class KeptChange { created, changed, unchanged, recovered };

std::string_view name_of(SessionStatus status);
std::string_view name_of(ExecutionStatus status);
std::string_view name_of(Outcome outcome);
std::string_view name_of(UnkeptReason reason);
std::string_view name_of(KeptChange change);

// nullopt for a text that names none.
std::optional<ExecutionStatus> execution_status_from(std::string_view name);
std::optional<Outcome> outcome_from(std::string_view name);
std::optional<UnkeptReason> unkept_reason_from(std::string_view name);
std::optional<KeptChange> kept_change_from(std::string_view name);

}  // namespace sk::interpreter
