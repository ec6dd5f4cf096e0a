// A command as a row of data: its name, its arguments, its help text and its function.
// cli/commands/commands.h lists all commands.
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

// One call of a command. All references outlive it.
struct Invocation {
  const Command& command;
  Arguments arguments;
  std::vector<std::string> words;  // as typed, after the command's name
  Terminal& terminal;
  const Environment& environment;
  const Clock& clock;

  bool json() const { return arguments.has("json"); }
  const std::string& positional(size_t index) const { return arguments.positional.at(index); }
  // Returns an environment variable; "" if it is not set.
  std::string variable(std::string_view name) const;
  // Whether the command has an option of this name.
  bool declares(std::string_view option) const;
  // Prints the value as one line with --json, else `human`.
  void print(const Json& value, const std::string& human) const;
};

// How the words after a command's name are parsed.
enum class Reads {
  client,    // its own options and those that name a server
  local,     // its own options; contacts no server
  settings,  // the settings table; the words are passed on unchanged
};

constexpr size_t kAny = static_cast<size_t>(-1);

struct Command {
  std::string_view name;       // "put", "trash restore"
  std::string_view arguments;  // "SOURCE… [TARGET]"
  std::string_view summary;    // one line, in lower case, without a full stop
  std::string_view about;      // paragraphs separated by blank lines; "" for none
  std::vector<Option> options;
  size_t positional_min = 0;
  size_t positional_max = kAny;
  std::vector<std::string_view> examples;
  ExitCode (*run)(Invocation&) = nullptr;
  Reads reads = Reads::client;
  bool takes_rest = false;  // the words after "--" are a command line, not further arguments

  std::string (*settings_help)() = nullptr;  // for Reads::settings: the help text in place of options

  // Returns its own options and those implied by `reads`.
  std::vector<Option> all_options() const;
  // Returns "trash" for "trash restore"; "" for a command of one word.
  std::string_view family() const;
};

// Options of every command that contacts a server.
extern const std::vector<Option> kTargetOptions;
// Options of commands that change something.
extern const std::vector<Option> kWriteOptions;
std::vector<Option> with_write_options(std::vector<Option> own);

}  // namespace sk::cli
