// Runs code through the server for `run`, `shell` and `demo`: streams the output, then returns the complete
// answer.
#pragma once

#include <functional>
#include <string>

#include "base/json.h"
#include "cli/client/remote.h"
#include "cli/frame/terminal.h"

namespace sk::cli {

// Runs `body` (an execution in the REST API's format) in a session. Calls `on_start` with the execution's id
// and `on_output` with each output. Returns the answer. Error(unavailable) if the connection to the server is
// lost.
struct ExecutionEvents {
  std::function<void(const Json& output)> on_output = [](const Json&) {};
  std::function<void(const std::string& execution)> on_start = [](const std::string&) {};
};
Json run_code(Remote& remote, const std::string& session, Json body, const ExecutionEvents& events);

// Read the `end` field of a finished execution.
bool ended_well(const Json& done);
bool ended_by_itself(const Json& done);  // also true after an exception or a nonzero exit code

// Whether a session, in the REST API's format, is asleep.
bool is_asleep(const Json& session);

// Prints one output for a user: printed text, the text of a result, or a traceback.
void show_output(Terminal& terminal, const Json& output);
// Prints what follows the output: that the session woke, the stored files with links, the files that were not
// stored with the reason and the next step, and how the execution ended if nothing else shows it.
void show_answer(Terminal& terminal, const Json& done);

}  // namespace sk::cli
