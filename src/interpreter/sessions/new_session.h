// Checks and defaults for new sessions and new executions.
#pragma once

#include "interpreter/interpreter.h"
#include "interpreter/options.h"

namespace sk::interpreter {

// Applies the request: name, memory, times, environment and labels; unset fields get server defaults.
// Error(bad_request) for a value beyond the server's limits.
void fill_from_request(SessionInfo& info, const NewSession& wanted, const InterpreterOptions& options);

// The session's folder in the workspace: the requested one, or one named after the session, below `scope`.
std::string folder_of(const SessionInfo& info, const NewSession& wanted, std::string_view scope);

// Error(bad_request) or Error(too_large) for an execution that cannot be run.
void check(const NewExecution& wanted, const InterpreterOptions& options);

}  // namespace sk::interpreter
