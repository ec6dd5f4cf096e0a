// The table of all commands, by group. Used for help and for finding the command of a call.
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

// A family of two-word commands, such as "trash", with its summary.
struct CommandFamily {
  std::string_view name, summary;
};

// The command at the start of the words, and the number of words in its name; null if there is none.
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
  // Returns the commands of a family, such as all that start with "trash".
  std::vector<const Command*> of_family(std::string_view family) const;
  // Returns the command name most similar to these words.
  std::optional<std::string> nearest(std::span<const std::string> words) const;

 private:
  const std::vector<CommandGroup> groups_;
  const std::vector<CommandFamily> families_;
};

}  // namespace sk::cli
