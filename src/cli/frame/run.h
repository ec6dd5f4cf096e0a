// From words to an exit code: finds the command, reads its arguments, runs it, and says what went wrong.
#pragma once

#include <span>
#include <string>

#include "base/clock.h"
#include "base/environment.h"
#include "cli/frame/command_table.h"
#include "cli/frame/exit_code.h"
#include "cli/frame/terminal.h"

namespace sk::cli {

// `words` are those after the program's name. Never throws.
ExitCode run(const CommandTable& table, std::span<const std::string> words, const Environment& environment,
             Terminal& terminal, const Clock& clock);

// "sandkeep: what went wrong" and, below it, what to do; with `as_json` the server's own shape on one line.
std::string describe_error(const Error& error, bool as_json, const Terminal& terminal);

}  // namespace sk::cli
