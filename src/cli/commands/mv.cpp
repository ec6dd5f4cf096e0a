// mv: moves and renames within a workspace; ids, versions and links stay.
#include "cli/client/fields.h"
#include "cli/commands/commands.h"
#include "cli/commands/moving.h"
#include "cli/frame/columns.h"

namespace sk::cli {

namespace {

ExitCode run_mv(Invocation& call) {
  auto remote = connect(call);
  for_each_source(call, remote, [&](const RemotePath& from, const RemotePath& to) {
    if (remote.workspace_of(from) != remote.workspace_of(to))
      throw Error(Code::bad_request, "'mv' cannot move to another workspace")
          .hint(
              "Copy with 'sandkeep cp', then remove the old one with 'sandkeep rm'. Versions and links stay "
              "in the old workspace.");
    Json body = {{"from", from.path}, {"to", to.path}, {"on_existing", on_existing(call.arguments)}};
    http::Headers headers;
    write_conditions(call, remote, to).add_to(headers);
    auto result = remote.call("POST", remote.url(from, "move"), {}, body, headers);
    call.print(result,
               printable(from.path) + " -> " + printable(text_field(object_field(result, "entry"), "path")));
  });
  return ExitCode::ok;
}

}  // namespace

Command mv_command() {
  auto options = kOnExistingOptions;
  return {
      .name = "mv",
      .arguments = "PATH… TARGET",
      .summary = "moves or renames files and folders",
      .about =
          "If TARGET is a folder, or ends in '/', they are put into it; otherwise it is the new name. Ids, "
          "versions and links stay valid.",
      .options = with_write_options(options),
      .positional_min = 2,
      .examples = {"sandkeep mv draft.md report.md", "sandkeep mv a.csv b.csv archive/"},
      .run = run_mv,
  };
}

}  // namespace sk::cli
