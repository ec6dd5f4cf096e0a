#include "cli/commands/commands.h"

namespace sk::cli {

namespace {

std::vector<Command> join(std::vector<Command> first, std::vector<Command> more) {
  first.insert(first.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return first;
}

std::vector<CommandGroup> make_groups() {
  std::vector<CommandGroup> groups;
  groups.push_back({"The server", {serve_command(), settings_command(), doctor_command(), demo_command()}});
  groups.push_back({"Signing in", {login_command(), logout_command(), whoami_command()}});
  groups.push_back({"Files",
                    {put_command(), get_command(), ls_command(), cat_command(), mkdir_command(), mv_command(),
                     cp_command(), rm_command(), link_command()}});
  groups.push_back({"History", join({log_command(), restore_command(), purge_command()}, trash_commands())});
  auto together = join(lock_commands(), {lock_run_command(), events_command()});
  groups.push_back({"Working together", std::move(together)});
  groups.push_back(
      {"Running code", join(join({run_command(), shell_command()}, sessions_commands()), {mcp_command()})});
  auto administration = join(workspace_commands(), key_commands());
  administration = join(std::move(administration), principal_commands());
  administration = join(std::move(administration), audit_commands());
  administration =
      join(std::move(administration), {usage_command(), top_command(), verify_command(), gc_command()});
  groups.push_back({"Administration", std::move(administration)});
  return groups;
}

std::vector<CommandFamily> make_families() {
  return {
      {"trash", "list, restore or purge removed files"},
      {"lock", "temporary exclusive rights to write a path"},
      {"workspace", "workspaces: quota, members, trash"},
      {"key", "the keys of the server"},
      {"principal", "people and agents"},
      {"audit", "export and verify the journal"},
      {"sessions", "sessions of the interpreter"},
  };
}

}  // namespace

const CommandTable& command_table() {
  static const CommandTable table(make_groups(), make_families());
  return table;
}

}  // namespace sk::cli
