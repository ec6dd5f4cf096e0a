// Checks and defaults for new sessions and new executions.
#pragma once

#include "interpreter/interpreter.h"
#include "interpreter/options.h"

namespace sk::interpreter {

// Name, memory, times, environment and labels as they were wished, or as the server gives them to who wished
// nothing. Error(bad_request) where a wish goes beyond what it allows.
void fill_from_request(SessionInfo& info, const NewSession& wanted, const InterpreterOptions& options);

// Its folder in the workspace: the one that was asked for, or one named after it, below `scope`.
std::string folder_of(const SessionInfo& info, const NewSession& wanted, std::string_view scope);

// Error(bad_request) or Error(too_large) for what cannot be run.
void check(const NewExecution& wanted, const InterpreterOptions& options);

}  // namespace sk::interpreter
