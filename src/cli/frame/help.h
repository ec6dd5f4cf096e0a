// Generates the texts of 'sandkeep help' and 'sandkeep COMMAND --help' from the table of commands.
#pragma once

#include <string>

#include "cli/frame/command_table.h"

namespace sk::cli {

std::string overview_help(const CommandTable& table);
std::string command_help(const Command& command);
std::string family_help(const CommandTable& table, std::string_view family);
// Returns "Usage: sandkeep put SOURCE… [TARGET]".
std::string usage_line(const Command& command);

}  // namespace sk::cli
