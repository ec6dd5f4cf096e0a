// settings: lists every setting of the server from its table.
#include "cli/commands/commands.h"
#include "server/server.h"

namespace sk::cli {

namespace {

Json setting_json(const server::SettingInfo& info) {
  return {{"name", info.name},
          {"group", info.group},
          {"flag", info.is_flag ? Json(info.flag()) : Json(nullptr)},
          {"variable", info.variable()},
          {"in_file", info.in_file},
          {"value", info.value},
          {"expected", info.expected},
          {"default", info.default_text},
          {"about", info.about}};
}

ExitCode run_settings(Invocation& call) {
  if (call.json()) {
    for (const auto& info : server::all_settings()) call.terminal.line(to_text(setting_json(info)));
  } else if (call.arguments.has("markdown")) {
    call.terminal.out(server::describe_settings_markdown());
  } else if (call.arguments.has("errors-markdown")) {
    call.terminal.out(server::describe_errors_markdown());
  } else {
    call.terminal.out(server::describe_settings_help());
  }
  return ExitCode::ok;
}

}  // namespace

Command settings_command() {
  return {
      .name = "settings",
      .arguments = "",
      .summary = "lists every setting of the server, with its default",
      .about = "Each setting is a flag of 'serve', a SANDKEEP_* variable and a key of the TOML file.",
      .options = {{"markdown", 0, "", "in the format of docs/settings.md"},
                  {"errors-markdown", 0, "", "the table of errors, in the format of docs/errors.md"}},
      .positional_max = 0,
      .examples = {"sandkeep settings"},
      .run = run_settings,
      .reads = Reads::local,
  };
}

}  // namespace sk::cli
