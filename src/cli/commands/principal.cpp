// principal: create, ls.
#include "cli/client/fields.h"
#include "cli/commands/commands.h"
#include "cli/frame/columns.h"
#include "cli/frame/when.h"

namespace sk::cli {

namespace {

const std::string kUrl = "/api/v1/principals";

ExitCode run_create(Invocation& call) {
  auto remote = connect(call);
  Json body = {{"name", call.positional(0)}, {"kind", call.arguments.has("agent") ? "agent" : "person"}};
  auto made = remote.call("POST", kUrl, {}, body);
  auto id = text_field(made, "id");
  call.print(made, id);
  if (!call.json())
    call.terminal.note("created " + printable(call.positional(0)) +
                       "; 'sandkeep key create NAME --principal " + id + "' creates a key for it");
  return ExitCode::ok;
}

ExitCode list_principals(Invocation& call) {
  auto remote = connect(call);
  Table table({Align::left, Align::left, Align::left, Align::left, Align::left});
  for_each_item(remote, kUrl, {}, [&](const Json& principal) {
    if (call.json()) {
      call.terminal.line(to_text(principal));
      return;
    }
    table.add({text_field(principal, "id"),
               {printable(text_field(principal, "name")), Style::bold},
               printable(text_field(principal, "kind")),
               {"since " + local_minute(text_field(principal, "created_at")), Style::dim},
               {flag_field(principal, "admin") ? "administrator" : "", Style::yellow}});
  });
  table.print(call.terminal);
  return ExitCode::ok;
}

}  // namespace

std::vector<Command> principal_commands() {
  return {
      {.name = "principal create",
       .arguments = "NAME",
       .summary = "creates a person or agent; for administrators",
       .about = "The principal gets its own workspace 'default' and no key yet. Prints its id.",
       .options = {{"agent", 0, "", "an agent, not a person"}},
       .positional_min = 1,
       .positional_max = 1,
       .examples = {"sandkeep principal create ada", "sandkeep principal create crawler --agent"},
       .run = run_create},
      {.name = "principal ls",
       .arguments = "",
       .summary = "lists principals; for administrators",
       .about = "",
       .options = {},
       .positional_max = 0,
       .examples = {"sandkeep principal ls"},
       .run = list_principals},
  };
}

}  // namespace sk::cli
