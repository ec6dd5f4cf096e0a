#include "cli/frame/command_table.h"

#include <algorithm>

#include "base/error.h"
#include "cli/frame/args.h"

namespace sk::cli {

std::vector<const Command*> CommandTable::all() const {
  std::vector<const Command*> out;
  for (const auto& group : groups_)
    for (const auto& command : group.commands) out.push_back(&command);
  return out;
}

std::string_view CommandTable::family_summary(std::string_view family) const {
  auto at =
      std::find_if(families_.begin(), families_.end(), [&](const auto& row) { return row.name == family; });
  SK_CHECK(at != families_.end(), family);
  return at->summary;
}

FoundCommand CommandTable::find(std::span<const std::string> words) const {
  if (words.empty()) return {};
  auto two = words.size() > 1 ? words[0] + " " + words[1] : "";
  FoundCommand found;
  for (const auto* command : all()) {
    if (command->name == two) return {command, 2};
    if (command->name == words[0]) found = {command, 1};
  }
  return found;
}

std::vector<const Command*> CommandTable::of_family(std::string_view family) const {
  std::vector<const Command*> out;
  for (const auto* command : all())
    if (!family.empty() && command->family() == family) out.push_back(command);
  return out;
}

std::optional<std::string> CommandTable::nearest(std::span<const std::string> words) const {
  if (words.empty()) return std::nullopt;
  std::vector<std::string> names;
  if (words.size() > 1 && !words[1].starts_with('-')) {
    for (const auto* command : all())
      if (!command->family().empty()) names.emplace_back(command->name);
    if (auto close = cli::nearest(words[0] + " " + words[1], names)) return close;
    names.clear();
  }
  for (const auto* command : all())
    names.emplace_back(command->family().empty() ? command->name : command->family());
  return cli::nearest(words[0], names);
}

}  // namespace sk::cli
