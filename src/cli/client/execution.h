// Running code through the server, as `run`, `shell` and `demo` do: output as it comes, then the whole
// answer.
#pragma once

#include <functional>
#include <string>

#include "base/json.h"
#include "cli/client/remote.h"
#include "cli/frame/terminal.h"

namespace sk::cli {

// Runs `body` (an execution as the REST API takes it) in a session, and calls `on_output` with each output
// and `on_start` with the execution's id. The answer. Error(unavailable) when the server went away meanwhile.
struct ExecutionEvents {
  std::function<void(const Json& output)> on_output = [](const Json&) {};
  std::function<void(const std::string& execution)> on_start = [](const std::string&) {};
};
Json run_code(Remote& remote, const std::string& session, Json body, const ExecutionEvents& events);

// Read the `end` field of a finished execution.
bool ended_well(const Json& done);
bool ended_by_itself(const Json& done);  // also by an exception or an exit code of its own

// Whether a session, as the REST API gives it, has gone to sleep.
bool is_asleep(const Json& session);

// One output as a person sees it: what was printed, the text of a result, a traceback.
void show_output(Terminal& terminal, const Json& output);
// What was kept, with links, and what was not, with the reason.
void show_files(Terminal& terminal, const Json& done);
// How it ended, where neither its output nor its files say it.
void show_end(Terminal& terminal, const Json& done);

}  // namespace sk::cli
