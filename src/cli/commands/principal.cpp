// principal: create, ls, suspend, resume.
#include "base/text.h"
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

std::string standing_of(const Json& principal) {
  if (auto since = optional_text(principal, "suspended_at"); !since.empty())
    return "suspended " + local_minute(since);
  return flag_field(principal, "admin") ? "administrator" : "";
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
               {standing_of(principal), Style::yellow}});
  });
  table.print(call.terminal);
  return ExitCode::ok;
}

ExitCode set_suspended(Invocation& call, const Json& body) {
  auto remote = connect(call);
  for (const auto& id : call.arguments.positional) {
    auto changed = remote.call("PATCH", kUrl + "/" + percent_encode(id), {}, body);
    call.print(changed, printable(id) + (standing_of(changed).empty() ? " is resumed" : " is suspended"));
  }
  return ExitCode::ok;
}

ExitCode run_suspend(Invocation& call) { return set_suspended(call, {{"suspended", true}}); }
ExitCode run_resume(Invocation& call) { return set_suspended(call, {{"suspended", false}}); }

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
      {.name = "principal suspend",
       .arguments = "ID…",
       .summary = "refuses the keys of principals and ends what they do; for administrators",
       .about =
           "Executions, streams and uploads of a suspended principal end within two seconds. Its workspaces, "
           "files and links stay, and so do its keys: 'principal resume' lets it in again.",
       .options = {},
       .positional_min = 1,
       .examples = {"sandkeep principal suspend p_018f6b2c9d3e7a41b5c60d7e8f901234"},
       .run = run_suspend},
      {.name = "principal resume",
       .arguments = "ID…",
       .summary = "lets suspended principals in again; for administrators",
       .about = "",
       .options = {},
       .positional_min = 1,
       .examples = {"sandkeep principal resume p_018f6b2c9d3e7a41b5c60d7e8f901234"},
       .run = run_resume},
  };
}

}  // namespace sk::cli
