#include "cli/frame/help.h"

#include "base/text.h"
#include "cli/frame/columns.h"

namespace sk::cli {

namespace {

constexpr size_t kWidth = 100;

std::string option_head(const Option& option) {
  std::string out = option.letter == 0 ? "    " : std::string("-") + option.letter + ", ";
  out += "--" + std::string(option.name);
  if (!option.value.empty()) out += " " + std::string(option.value);
  return out;
}

// Formats "  head   about" rows, with the about texts wrapped in one column.
std::string two_columns(const std::vector<std::pair<std::string, std::string>>& rows) {
  size_t widest = 0;
  for (const auto& [head, about] : rows) widest = std::max(widest, display_width(head));
  std::string out;
  for (const auto& [head, about] : rows) {
    out += "  " + head + std::string(widest - display_width(head) + 2, ' ');
    out += wrap(about, kWidth, widest + 4) + "\n";
  }
  return out;
}

std::string paragraphs(std::string_view text) {
  std::string out;
  for (auto line : split(text, '\n')) out += wrap(line, kWidth, 0) + "\n";
  return out;
}

std::string option_rows(const std::vector<Option>& options) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& option : options) rows.emplace_back(option_head(option), option.about);
  return two_columns(rows);
}

// Returns "trash ls|restore|purge|empty".
std::string family_head(const CommandTable& table, std::string_view family) {
  std::string out(family);
  for (const auto* command : table.of_family(family)) {
    out += out.size() == family.size() ? ' ' : '|';
    out += command->name.substr(family.size() + 1);
  }
  return out;
}

std::string group_rows(const CommandTable& table, const CommandGroup& group) {
  std::vector<std::pair<std::string, std::string>> rows;
  std::string_view last_family;
  for (const auto& command : group.commands) {
    auto family = command.family();
    if (family.empty()) {
      rows.emplace_back(command.name, command.summary);
    } else if (family != last_family) {
      rows.emplace_back(family_head(table, family), table.family_summary(family));
    }
    last_family = family;
  }
  return two_columns(rows);
}

}  // namespace

std::string usage_line(const Command& command) {
  auto out = "Usage: sandkeep " + std::string(command.name);
  if (!command.arguments.empty()) out += " " + std::string(command.arguments);
  return out;
}

std::string overview_help(const CommandTable& table) {
  std::string out =
      "Sandkeep stores every version of your files under a permanent link.\n\nUsage: sandkeep COMMAND "
      "[OPTIONS] [ARGUMENTS]\n       sandkeep COMMAND --help\n";
  for (const auto& group : table.groups())
    out += "\n" + std::string(group.title) + "\n" + group_rows(table, group);
  out +=
      "\nA PATH is in the default workspace; WS:PATH names another one. --json prints JSON.\n\nExit codes\n";
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& row : all_exit_codes())
    rows.emplace_back(std::to_string(static_cast<int>(row.code)), row.meaning);
  return out + two_columns(rows);
}

std::string command_help(const Command& command) {
  auto out = "sandkeep " + std::string(command.name) + ": " + std::string(command.summary) + "\n\n" +
             usage_line(command) + "\n";
  if (!command.about.empty()) out += "\n" + paragraphs(command.about);
  if (command.reads == Reads::settings) {
    out += "\n" + command.settings_help();
  } else {
    if (!command.options.empty()) out += "\nOptions\n" + option_rows(command.options);
    auto common = command.all_options();
    common.erase(common.begin(), common.begin() + static_cast<std::ptrdiff_t>(command.options.size()));
    out += "\nCommon options\n" + option_rows(common);
  }
  if (!command.examples.empty()) {
    out += "\nExamples\n";
    for (auto example : command.examples) out += "  " + std::string(example) + "\n";
  }
  return out;
}

std::string family_help(const CommandTable& table, std::string_view family) {
  auto out = "sandkeep " + std::string(family) + ": " + std::string(table.family_summary(family)) + "\n\n";
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto* command : table.of_family(family))
    rows.emplace_back(std::string(command->name) + " " + std::string(command->arguments), command->summary);
  return out + two_columns(rows) + "\n'sandkeep " + std::string(family) + " COMMAND --help' shows more.\n";
}

}  // namespace sk::cli
