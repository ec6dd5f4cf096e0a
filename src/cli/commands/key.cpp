// key: create, ls, revoke.
#include "base/text.h"
#include "cli/client/fields.h"
#include "cli/client/principals.h"
#include "cli/commands/commands.h"
#include "cli/frame/columns.h"
#include "cli/frame/when.h"

namespace sk::cli {

namespace {

ExitCode run_create(Invocation& call) {
  auto remote = connect(call);
  Json body = {{"name", call.positional(0)}, {"read_only", call.arguments.has("read-only")}};
  if (auto principal = call.arguments.value("principal"))
    body["principal_id"] = principal_id(remote, *principal);
  if (auto only = call.arguments.value("only")) body["workspace"] = *only;
  if (auto life = call.arguments.value("expires")) {
    if (auto seconds = parse_duration_s(*life)) {
      body["expires_in_s"] = *seconds;
    } else if (auto time_us = parse_local_time(*life)) {
      body["expires_at"] = to_iso8601(*time_us);
    } else {
      throw Error(Code::bad_request, "--expires " + *life +
                                         ": expected a lifetime such as 12h or 30d, or a time such as "
                                         "2026-12-31, '2026-12-31 12:30' (local) or 2026-12-31T12:30:00Z");
    }
  }
  auto made = remote.call("POST", "/api/v1/keys", {}, body);
  // Print only the secret on standard output, so that KEY=$(sandkeep key create …) works.
  call.print(made, text_field(made, "secret"));
  const auto& key = object_field(made, "key");
  if (!call.json())
    call.terminal.note("created key " + text_field(key, "id") + " for " +
                       printable(text_field(object_field(key, "principal"), "name")) +
                       "; its secret is shown only once");
  return ExitCode::ok;
}

std::string state_of(const Json& key) {
  std::string out;
  auto add = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
  if (auto revoked = optional_text(key, "revoked_at"); !revoked.empty())
    add("revoked " + local_minute(revoked));
  if (auto expires = optional_text(key, "expires_at"); !expires.empty())
    add("expires " + local_minute(expires));
  if (flag_field(key, "read_only")) add("read-only");
  if (auto only = optional_text(key, "workspace_id"); !only.empty()) add("only " + only);
  return out;
}

ExitCode list_keys(Invocation& call) {
  auto remote = connect(call);
  Table table({Align::left, Align::left, Align::left, Align::left, Align::left, Align::left});
  for_each_item(remote, "/api/v1/keys", {}, [&](const Json& key) {
    if (call.json()) {
      call.terminal.line(to_text(key));
      return;
    }
    auto used = optional_text(key, "last_used_at");
    table.add({text_field(key, "id"),
               {printable(text_field(key, "name")), Style::bold},
               printable(text_field(object_field(key, "principal"), "name")),
               printable(text_field(key, "hint")),
               {used.empty() ? "never used" : "used " + local_minute(used), Style::dim},
               {state_of(key), Style::yellow}});
  });
  table.print(call.terminal);
  return ExitCode::ok;
}

ExitCode run_revoke(Invocation& call) {
  auto remote = connect(call);
  for (const auto& id : call.arguments.positional) {
    remote.call("DELETE", "/api/v1/keys/" + percent_encode(id));
    call.print({{"revoked", id}}, printable(id) + " is revoked");
  }
  return ExitCode::ok;
}

}  // namespace

std::vector<Command> key_commands() {
  return {
      {.name = "key create",
       .arguments = "NAME",
       .summary = "creates a key, and prints its secret once",
       .about = "NAME tells what the key is for. A key never has more rights than the key that created it.",
       .options = {{"read-only", 0, "", "the key may only read"},
                   {"only", 0, "WS", "the only workspace that the key opens"},
                   {"expires", 0, "WHEN", "its lifetime (30d), or its expiry date (2026-12-31)"},
                   {"principal", 0, "PRINCIPAL",
                    "the principal of the key; only administrators may name another one"}},
       .positional_min = 1,
       .positional_max = 1,
       .examples = {"sandkeep key create ci --only team --expires 30d"},
       .run = run_create},
      {.name = "key ls",
       .arguments = "",
       .summary = "lists your keys; for administrators, all keys",
       .about = "Shows id, name, principal, prefix, last use and limits.",
       .options = {},
       .positional_max = 0,
       .examples = {"sandkeep key ls"},
       .run = list_keys},
      {.name = "key revoke",
       .arguments = "KEY_ID…",
       .summary = "revokes a key at once",
       .about = "",
       .options = {},
       .positional_min = 1,
       .examples = {"sandkeep key revoke key_018f6b2c9d3e7a41b5c60d7e8f901234"},
       .run = run_revoke},
  };
}

}  // namespace sk::cli
