// All commands, by group: what help shows, and where the words of a call are looked up.
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

// A family of two-word commands, such as "trash", and what it is about.
struct CommandFamily {
  std::string_view name, summary;
};

// The command that the words begin with, and how many words its name takes; null when there is none.
struct FoundCommand {
  const Command* command = nullptr;
  size_t words = 0;
};

// Constant after construction. Every two-word command belongs to one of the families.
class CommandTable {
 public:
  CommandTable(std::vector<CommandGroup> groups, std::vector<CommandFamily> families)
      : groups_(std::move(groups)), families_(std::move(families)) {}

  const std::vector<CommandGroup>& groups() const { return groups_; }
  std::vector<const Command*> all() const;
  std::string_view family_summary(std::string_view family) const;
  FoundCommand find(std::span<const std::string> words) const;
  // The commands of a family: "trash" → its four.
  std::vector<const Command*> of_family(std::string_view family) const;
  // The name that is nearest to these words.
  std::optional<std::string> nearest(std::span<const std::string> words) const;

 private:
  const std::vector<CommandGroup> groups_;
  const std::vector<CommandFamily> families_;
};

}  // namespace sk::cli
