#include "cli/frame/run.h"

#include <algorithm>

#include "base/text.h"
#include "base/version.h"
#include "cli/frame/advice_words.h"
#include "cli/frame/columns.h"
#include "cli/frame/help.h"

namespace sk::cli {

namespace {

// Decides only how errors are shown, including errors in the options themselves. The command parses its
// options.
bool wants_json(std::span<const std::string> words) {
  auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, "--json") != end;
}

bool is_help_word(const std::string& word) { return word == "--help" || word == "-h"; }

[[noreturn]] void throw_unknown_command(const CommandTable& table, std::span<const std::string> words) {
  auto message = "there is no command '" + words[0] + "'";
  if (auto close = table.nearest(words)) message += "; did you mean '" + *close + "'?";
  throw Error(Code::bad_request, message).hint("'sandkeep help' lists the commands.");
}

ExitCode print_help(const CommandTable& table, std::span<const std::string> words, Terminal& terminal) {
  if (words.empty()) {
    terminal.out(overview_help(table));
  } else if (auto found = table.find(words); found.command != nullptr) {
    terminal.out(command_help(*found.command));
  } else if (!table.of_family(words[0]).empty()) {
    terminal.out(family_help(table, words[0]));
  } else {
    throw_unknown_command(table, words);
  }
  return ExitCode::ok;
}

void check_positional(const Command& command, const Arguments& arguments) {
  auto count = arguments.positional.size();
  auto complain = [&](const std::string& what) {
    throw Error(Code::bad_request, "'" + std::string(command.name) + "' " + what)
        .hint(usage_line(command) + "   ('sandkeep " + std::string(command.name) + " --help' shows more)");
  };
  if (count < command.positional_min) complain("needs more: " + std::string(command.arguments));
  if (count > command.positional_max)
    complain("does not take '" + arguments.positional[command.positional_max] + "'");
}

// Adds a hint about --help to errors in the options.
Arguments read_arguments(const Command& command, std::span<const std::string> words) {
  try {
    auto arguments = parse_arguments(words, command.all_options());
    // For other commands "--" only ends the options: 'cat -- -draft.md'.
    if (!command.takes_rest)
      arguments.positional.insert(arguments.positional.end(), arguments.rest.begin(), arguments.rest.end());
    return arguments;
  } catch (const Error& error) {
    throw Error(error.code(), error.message())
        .hint("'sandkeep " + std::string(command.name) + " --help' lists its options.");
  }
}

ExitCode dispatch(const CommandTable& table, std::span<const std::string> words,
                  const Environment& environment, Terminal& terminal, const Clock& clock) {
  if (words.empty() || is_help_word(words[0])) return print_help(table, {}, terminal);
  if (words[0] == "help") return print_help(table, words.subspan(1), terminal);
  if (words[0] == "--version" || words[0] == "version") {
    terminal.line("sandkeep " + std::string(kVersion));
    return ExitCode::ok;
  }
  auto [command, taken] = table.find(words);
  if (command == nullptr) {
    bool is_family = !table.of_family(words[0]).empty();
    if (is_family && (words.size() == 1 || is_help_word(words[1])))
      return print_help(table, words.first(1), terminal);
    throw_unknown_command(table, words);
  }

  auto rest = words.subspan(taken);
  auto until_rest = std::find(rest.begin(), rest.end(), "--");
  if (std::any_of(rest.begin(), until_rest, is_help_word)) {
    terminal.out(command_help(*command));
    return ExitCode::ok;
  }
  Invocation invocation{*command, {}, {rest.begin(), rest.end()}, terminal, environment, clock};
  if (command->reads != Reads::settings) {
    invocation.arguments = read_arguments(*command, rest);
    check_positional(*command, invocation.arguments);
  }
  return command->run(invocation);
}

Json error_to_json(const Error& error) {
  Json fields = {{"code", info(error.code()).name}, {"message", error.message()}, {"hint", hint_of(error)}};
  for (const auto& [name, value] : error.facts())
    std::visit([&, &key = name](const auto& fact) { fields[key] = fact; }, value);
  return {{"error", fields}};
}

}  // namespace

std::string describe_error(const Error& error, bool as_json, const Terminal& terminal) {
  if (as_json) return to_text(error_to_json(error));
  auto out = terminal.paint_err(Style::red, "sandkeep:") + " " + printable(error.message());
  // "Correct the request" tells nobody anything new.
  if (error.advice() != Advice::correct_request) out += "\n  " + printable(hint_of(error));
  if (error.code() == Code::internal)
    for (const auto& [name, value] : error.facts())
      if (const auto* id = std::get_if<std::string>(&value); name == "request_id" && id != nullptr)
        out += "\n  request id: " + printable(*id);
  return out;
}

ExitCode run(const CommandTable& table, std::span<const std::string> words, const Environment& environment,
             Terminal& terminal, const Clock& clock) {
  auto as_json = wants_json(words);
  auto complain = [&](const Error& error) {
    terminal.status("");
    terminal.note(describe_error(error, as_json, terminal));
    return exit_code_of(error.code());
  };
  try {
    auto code = dispatch(table, words, environment, terminal, clock);
    terminal.flush();
    return code;
  } catch (const Error& error) {
    if (terminal.reader_left()) return ExitCode::failed;
    auto code = complain(error);
    try {
      terminal.flush();
    } catch (const Error&) {
      // Report the first error.
    }
    return code;
  } catch (const std::exception& error) {
    return complain(Error(Code::internal, error.what()));
  }
}

}  // namespace sk::cli
