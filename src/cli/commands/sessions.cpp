// sessions: what runs and sleeps.
#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/when.h"

namespace sk::cli {

namespace {

ExitCode run_list(Invocation& call) {
  auto remote = call.remote();
  for_each_item(remote, "/api/v1/sessions", {}, [&](const Json& item) {
    if (call.json()) return call.terminal.line(to_text(item));
    call.terminal.line(text_field(item, "id") + "  " + text_field(item, "status") + "  " +
                       local_second(text_field(item, "active_at")) + "  " +
                       printable(text_field(item, "folder")));
  });
  return ExitCode::ok;
}

ExitCode run_remove(Invocation& call) {
  auto remote = call.remote();
  for (const auto& id : call.arguments.positional)
    remote.call("DELETE", "/api/v1/sessions/" + percent_encode(id));
  return ExitCode::ok;
}

}  // namespace

std::vector<Command> sessions_commands() {
  return {{.name = "sessions ls",
           .arguments = "",
           .summary = "lists your sessions, newest first",
           .about = "Id, status (running or asleep), last use, and the folder that the session's code sees "
                    "as /mnt/data.",
           .options = {},
           .positional_max = 0,
           .examples = {"sandkeep sessions ls"},
           .run = run_list},
          {.name = "sessions rm",
           .arguments = "ID…",
           .summary = "ends sessions; their files stay",
           .about = "",
           .options = {},
           .positional_min = 1,
           .examples = {"sandkeep sessions rm s_0…"},
           .run = run_remove}};
}

}  // namespace sk::cli
