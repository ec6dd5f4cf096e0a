// mkdir: creates folders and their parents.
#include "cli/client/fields.h"
#include "cli/commands/commands.h"
#include "cli/frame/columns.h"

namespace sk::cli {

namespace {

ExitCode run_mkdir(Invocation& call) {
  auto remote = connect(call);
  for (const auto& word : call.arguments.positional) {
    auto where = parse_remote_path(word);
    http::Headers headers;
    write_conditions(call, remote, where).add_to(headers);
    auto result = remote.call("POST", remote.url(where, "mkdir"), {}, Json{{"path", where.path}}, headers);
    auto state = flag_field(result, "created") ? " is created" : " already exists";
    call.print(result, printable(where.path) + "/" + state);
  }
  return ExitCode::ok;
}

}  // namespace

Command mkdir_command() {
  return {
      .name = "mkdir",
      .arguments = "PATH…",
      .summary = "creates folders, and missing folders above them",
      .about = "An existing folder is no error. 'put' creates missing folders automatically.",
      .options = with_write_options({}),
      .positional_min = 1,
      .examples = {"sandkeep mkdir reports/2026"},
      .run = run_mkdir,
  };
}

}  // namespace sk::cli
