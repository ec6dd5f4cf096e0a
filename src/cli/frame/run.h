// Finds the command, parses its arguments, runs it, reports errors and returns the exit code.
#pragma once

#include <span>
#include <string>

#include "base/clock.h"
#include "base/environment.h"
#include "cli/frame/command_table.h"
#include "cli/frame/exit_code.h"
#include "cli/frame/terminal.h"

namespace sk::cli {

// `words` are those after the program's name. Does not throw.
ExitCode run(const CommandTable& table, std::span<const std::string> words, const Environment& environment,
             Terminal& terminal, const Clock& clock);

// Returns "sandkeep: message" and the hint on the next line; with `as_json`, one line in the server's error
// format.
std::string describe_error(const Error& error, bool as_json, const Terminal& terminal);

}  // namespace sk::cli
