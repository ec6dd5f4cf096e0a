// principal: create, ls, suspend, resume, limit.
#include <array>

#include "base/text.h"
#include "cli/client/fields.h"
#include "cli/client/principals.h"
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
    auto changed = remote.call("PATCH", kUrl + "/" + principal_id(remote, id), {}, body);
    call.print(changed, printable(id) + (standing_of(changed).empty() ? " is resumed" : " is suspended"));
  }
  return ExitCode::ok;
}

ExitCode run_suspend(Invocation& call) { return set_suspended(call, {{"suspended", true}}); }
ExitCode run_resume(Invocation& call) { return set_suspended(call, {{"suspended", false}}); }

struct LimitOption {
  const char *option, *field, *label;
  bool is_size = false;
};
constexpr std::array kLimits = {LimitOption{"quota", "quota_bytes", "quota", true},
                                LimitOption{"workspaces", "workspaces_max", "workspaces", false},
                                LimitOption{"keys", "keys_max", "keys", false},
                                LimitOption{"sessions", "sessions_max", "running sessions", false},
                                LimitOption{"sessions-kept", "sessions_kept_max", "sessions", false}};

// Returns null for "default".
Json limit_value(const LimitOption& limit, const std::string& text) {
  if (text == "default") return nullptr;
  if (auto value = parse_size(text)) return *value;
  throw Error(Code::bad_request,
              "'" + text + "' is not a limit; write a number, 50 GiB for --quota, or default")
      .with("option", limit.option);
}

ExitCode run_limit(Invocation& call) {
  Json wanted = Json::object();
  for (const auto& limit : kLimits)
    if (auto text = call.arguments.value(limit.option)) wanted[limit.field] = limit_value(limit, *text);
  if (wanted.empty())
    throw Error(Code::bad_request, "no limit was named")
        .hint("Pass --quota, --workspaces, --keys, --sessions or --sessions-kept.");
  auto remote = connect(call);
  auto changed = remote.call("PATCH", kUrl + "/" + principal_id(remote, call.positional(0)), {},
                             Json{{"limits", wanted}});
  if (call.json()) {
    call.terminal.line(to_text(changed));
    return ExitCode::ok;
  }
  const Json& limits = object_field(changed, "limits");
  for (const auto& limit : kLimits) {
    auto found = limits.find(limit.field);
    bool is_set = found != limits.end() && found->is_number_unsigned();
    std::string value = !is_set         ? "as the server's setting"
                        : limit.is_size ? human_size(found->get<uint64_t>())
                                        : std::to_string(found->get<uint64_t>());
    call.terminal.line(std::string(limit.label) + ": " + value);
  }
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
      {.name = "principal suspend",
       .arguments = "PRINCIPAL…",
       .summary = "refuses the keys of principals and ends what they do; for administrators",
       .about =
           "Executions, streams and uploads of a suspended principal end within two seconds. Its workspaces, "
           "files and links stay, and so do its keys: 'principal resume' lets it in again.",
       .options = {},
       .positional_min = 1,
       .examples = {"sandkeep principal suspend ada"},
       .run = run_suspend},
      {.name = "principal resume",
       .arguments = "PRINCIPAL…",
       .summary = "lets suspended principals in again; for administrators",
       .about = "",
       .options = {},
       .positional_min = 1,
       .examples = {"sandkeep principal resume ada"},
       .run = run_resume},
      {.name = "principal limit",
       .arguments = "PRINCIPAL",
       .summary = "sets limits of one principal; for administrators",
       .about =
           "'default' as a limit returns to the server's setting. What is above a limit stays, and only "
           "more is refused: deleting and purging always work. 'usage --principal NAME' shows the figures.",
       .options = {{"quota", 0, "SIZE", "bytes that all its workspaces keep together; 0: no limit"},
                   {"workspaces", 0, "N", "workspaces that it owns"},
                   {"keys", 0, "N", "valid keys"},
                   {"sessions", 0, "N", "sessions that run at the same time"},
                   {"sessions-kept", 0, "N", "sessions that are not deleted"}},
       .positional_min = 1,
       .positional_max = 1,
       .examples = {"sandkeep principal limit ada --quota 10GiB --sessions 4",
                    "sandkeep principal limit p_018f6b2c9d3e7a41b5c60d7e8f901234 --quota default"},
       .run = run_limit},
  };
}

}  // namespace sk::cli
