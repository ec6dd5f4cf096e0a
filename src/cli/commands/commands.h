// The table of all commands. Each row is made by the file of that name in cli/commands/.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/command.h"

namespace sk::cli {

// Commands under one heading of 'sandkeep help'.
struct CommandGroup {
  std::string_view title;
  std::vector<Command> commands;
};

const std::vector<CommandGroup>& command_groups();
std::vector<const Command*> all_commands();

// What the families of two-word commands are about, for the overview.
std::string_view family_summary(std::string_view family);

// The command that the words begin with, and how many words its name takes; null when there is none.
struct FoundCommand {
  const Command* command = nullptr;
  size_t words = 0;
};
FoundCommand find_command(std::span<const std::string> words);
// The commands of a family: "trash" → its four.
std::vector<const Command*> commands_of_family(std::string_view family);
// What somebody who typed these words may have meant.
std::optional<std::string> nearest_command(std::span<const std::string> words);

// One maker per file of cli/commands/.
Command serve_command();
Command settings_command();
Command login_command();
Command logout_command();
Command whoami_command();
Command put_command();
Command get_command();
Command cat_command();
Command ls_command();
Command mkdir_command();
Command mv_command();
Command cp_command();
Command rm_command();
Command link_command();
Command log_command();
Command restore_command();
std::vector<Command> trash_commands();
std::vector<Command> lock_commands();
Command lock_run_command();
Command events_command();
Command run_command();
Command shell_command();
Command doctor_command();
Command demo_command();
std::vector<Command> sessions_commands();
Command mcp_command();
std::vector<Command> workspace_commands();
std::vector<Command> key_commands();
std::vector<Command> principal_commands();
std::vector<Command> audit_commands();
Command verify_command();
Command gc_command();

}  // namespace sk::cli
