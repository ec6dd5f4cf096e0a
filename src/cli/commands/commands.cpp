#include "cli/commands/commands.h"

#include <algorithm>
#include <array>

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
  groups.push_back({"History", join({log_command(), restore_command()}, trash_commands())});
  auto together = join(lock_commands(), {lock_run_command(), events_command()});
  groups.push_back({"Working together", std::move(together)});
  groups.push_back(
      {"Running code", join(join({run_command(), shell_command()}, sessions_commands()), {mcp_command()})});
  auto administration = join(workspace_commands(), key_commands());
  administration = join(std::move(administration), principal_commands());
  administration = join(std::move(administration), audit_commands());
  administration = join(std::move(administration), {verify_command(), gc_command()});
  groups.push_back({"Administration", std::move(administration)});
  return groups;
}

struct FamilySummary {
  std::string_view family, summary;
};
constexpr auto kFamilySummaries = std::to_array<FamilySummary>({
    {"trash", "what was removed, and how to get it back or rid of it"},
    {"lock", "the right to write a path for a while"},
    {"workspace", "the homes of files: quota, members, trash"},
    {"key", "the keys that open the server"},
    {"principal", "the people and agents who act"},
    {"audit", "the journal as a file, and its check"},
    {"sessions", "interpreters: what runs and what sleeps"},
});

}  // namespace

const std::vector<CommandGroup>& command_groups() {
  static const std::vector<CommandGroup> groups = make_groups();
  return groups;
}

std::vector<const Command*> all_commands() {
  std::vector<const Command*> out;
  for (const auto& group : command_groups())
    for (const auto& command : group.commands) out.push_back(&command);
  return out;
}

std::string_view family_summary(std::string_view family) {
  auto at = std::find_if(kFamilySummaries.begin(), kFamilySummaries.end(),
                         [&](const auto& row) { return row.family == family; });
  SK_CHECK(at != kFamilySummaries.end(), family);
  return at->summary;
}

FoundCommand find_command(std::span<const std::string> words) {
  if (words.empty()) return {};
  auto two = words.size() > 1 ? words[0] + " " + words[1] : "";
  FoundCommand found;
  for (const auto* command : all_commands()) {
    if (command->name == two) return {command, 2};
    if (command->name == words[0]) found = {command, 1};
  }
  return found;
}

std::vector<const Command*> commands_of_family(std::string_view family) {
  std::vector<const Command*> out;
  for (const auto* command : all_commands())
    if (!family.empty() && command->family() == family) out.push_back(command);
  return out;
}

std::optional<std::string> nearest_command(std::span<const std::string> words) {
  if (words.empty()) return std::nullopt;
  std::vector<std::string> names;
  if (words.size() > 1 && !words[1].starts_with('-')) {
    for (const auto* command : all_commands())
      if (!command->family().empty()) names.emplace_back(command->name);
    if (auto close = nearest(words[0] + " " + words[1], names)) return close;
    names.clear();
  }
  for (const auto* command : all_commands())
    names.emplace_back(command->family().empty() ? command->name : command->family());
  return nearest(words[0], names);
}

}  // namespace sk::cli
