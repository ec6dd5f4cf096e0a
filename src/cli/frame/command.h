// A command of the program as a row of data: its name, what it accepts, what it says in help, and the
// function that does it. cli/commands/commands.h lists all of them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/environment.h"
#include "base/json.h"
#include "cli/frame/args.h"
#include "cli/frame/exit_code.h"
#include "cli/frame/terminal.h"

namespace sk::cli {

struct Command;

// One call of a command. What it refers to outlives it.
struct Invocation {
  const Command& command;
  Arguments arguments;
  std::vector<std::string> words;  // as typed, after the command's name
  Terminal& terminal;
  const Environment& environment;
  const Clock& clock;

  bool json() const { return arguments.has("json"); }
  const std::string& positional(size_t index) const { return arguments.positional.at(index); }
  // A variable of the environment; "" when it is not set.
  std::string variable(std::string_view name) const;
  // Whether the command has an option of this name.
  bool declares(std::string_view option) const;
  // With --json the value as one line, else what `human` says.
  void print(const Json& value, const std::string& human) const;
};

// How the words after a command's name are read.
enum class Reads {
  client,    // its own options and those that name a server
  local,     // its own options; talks to nobody
  settings,  // the settings table; the words are passed on untouched
};

constexpr size_t kAny = static_cast<size_t>(-1);

struct Command {
  std::string_view name;       // "put", "trash restore"
  std::string_view arguments;  // "SOURCE… [TARGET]"
  std::string_view summary;    // a line, in lower case, without a full stop
  std::string_view about;      // paragraphs, "" for none; a blank line between them
  std::vector<Option> options;
  size_t positional_min = 0;
  size_t positional_max = kAny;
  std::vector<std::string_view> examples;
  ExitCode (*run)(Invocation&) = nullptr;
  Reads reads = Reads::client;
  bool takes_rest = false;  // what stands behind "--" is a command of its own, not more arguments

  std::string (*settings_help)() = nullptr;  // for Reads::settings: what stands in help instead of options

  // Its own options and those that come with `reads`.
  std::vector<Option> all_options() const;
  // "trash" of "trash restore"; "" for a command of one word.
  std::string_view family() const;
};

// The options of every command that talks to a server.
extern const std::vector<Option> kTargetOptions;
// The options of commands that change something.
extern const std::vector<Option> kWriteOptions;
std::vector<Option> with_write_options(std::vector<Option> own);

}  // namespace sk::cli
