// The table of all commands. The file of the same name in cli/commands/ creates each row.
#pragma once

#include <vector>

#include "cli/client/connect.h"
#include "cli/frame/command_table.h"

namespace sk::cli {

const CommandTable& command_table();

// One function per file of cli/commands/.
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
Command purge_command();
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
Command top_command();
Command usage_command();
Command verify_command();
Command gc_command();

}  // namespace sk::cli
