// cp: copies within a workspace or between workspaces; no bytes are transferred.
#include "cli/client/fields.h"
#include "cli/client/versions.h"
#include "cli/commands/commands.h"
#include "cli/commands/moving.h"
#include "cli/frame/columns.h"

namespace sk::cli {

namespace {

ExitCode run_cp(Invocation& call) {
  auto remote = connect(call);
  auto version = call.arguments.value("version");
  if (version && call.arguments.positional.size() > 2)
    throw Error(Code::bad_request, "--version is for a single file");
  for_each_source(call, remote, [&](const RemotePath& from, const RemotePath& to) {
    Json body = {{"from", from.path}, {"to", to.path}, {"on_existing", on_existing(call.arguments)}};
    if (version) body["from_version"] = text_field(find_version(remote, from, *version), "id");
    bool between_workspaces = remote.workspace_of(from) != remote.workspace_of(to);
    if (between_workspaces) body["from_workspace"] = remote.workspace_of(from);
    http::Headers headers;
    write_conditions(call, remote, to).add_to(headers);
    auto result = remote.call("POST", remote.url(to, "copy"), {}, body, headers);
    auto shown = [&](const RemotePath& at, const std::string& path) {
      return printable(between_workspaces ? remote.workspace_of(at) + ":" + path : path);
    };
    call.print(result, shown(from, from.path) + " -> " +
                           shown(to, text_field(object_field(result, "entry"), "path")));
  });
  return ExitCode::ok;
}

}  // namespace

Command cp_command() {
  auto options = kOnExistingOptions;
  options.insert(options.begin(),
                 {"version", 0, "VERSION", "an older version of the file: an id (v_…) or a number"});
  return {
      .name = "cp",
      .arguments = "PATH… TARGET",
      .summary = "copies files and folders on the server",
      .about =
          "Within a workspace or from one to another (WS:PATH); no bytes are sent. If TARGET is a folder, or "
          "ends in '/', they are put into it; otherwise it is the new name.",
      .options = with_write_options(options),
      .positional_min = 2,
      .examples = {"sandkeep cp report.md report-copy.md", "sandkeep cp team:plan.md plans/",
                   "sandkeep cp report.md old.md --version 2"},
      .run = run_cp,
  };
}

}  // namespace sk::cli
