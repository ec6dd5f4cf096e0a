// whoami: shows the server and the principal of the key.
#include "cli/client/fields.h"
#include "cli/commands/commands.h"
#include "cli/frame/columns.h"

namespace sk::cli {

namespace {

ExitCode run_whoami(Invocation& call) {
  auto remote = connect(call);
  auto me = remote.call("GET", "/api/v1/me");
  const auto& principal = object_field(me, "principal");
  const auto& scope = object_field(me, "scope");
  auto only = optional_text(scope, "workspace_id");
  auto human = printable(text_field(principal, "name")) + " (" + text_field(principal, "id") + ") at " +
               remote.target().server;
  if (flag_field(principal, "admin")) human += ", administrator";
  if (flag_field(scope, "read_only")) human += ", read-only key";
  if (!only.empty()) human += ", key for workspace " + only;
  call.print(me, human);
  return ExitCode::ok;
}

}  // namespace

Command whoami_command() {
  return {
      .name = "whoami",
      .arguments = "",
      .summary = "shows the server and your principal",
      .about = "",
      .options = {},
      .positional_max = 0,
      .examples = {"sandkeep whoami"},
      .run = run_whoami,
  };
}

}  // namespace sk::cli
