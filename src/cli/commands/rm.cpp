// rm: moves entries to the trash.
#include "cli/client/fields.h"
#include "cli/commands/commands.h"
#include "cli/frame/columns.h"

namespace sk::cli {

namespace {

ExitCode run_rm(Invocation& call) {
  auto remote = connect(call);
  for (const auto& word : call.arguments.positional) {
    auto where = parse_remote_path(word);
    if (where.is_root())
      throw Error(Code::bad_request, "'" + word + "' is a whole workspace")
          .hint("'sandkeep workspace rm " + remote.workspace_of(where) + "' moves it to the trash.");
    auto entry = get_entry(remote, where);
    if (text_field(entry, "kind") == "folder" && !call.arguments.has("recursive"))
      throw Error(Code::bad_request, where.path + " is a folder")
          .hint("Add -r to move it to the trash with all its contents.");
    auto request = request_to("DELETE", remote.url_with_path(where, "files"));
    write_conditions(call, remote, where).add_to(request.headers);
    auto trashed = parse_json(remote.send(std::move(request)).body, "the server's answer");
    call.print(trashed, printable(where.path) + " is in the trash; restore it with 'sandkeep trash restore " +
                            text_field(entry, "id") + "'");
  }
  return ExitCode::ok;
}

}  // namespace

Command rm_command() {
  return {
      .name = "rm",
      .arguments = "PATH…",
      .summary = "moves files and folders to the trash",
      .about = "They keep their versions, and their links keep working, until they are purged.",
      .options = with_write_options({{"recursive", 'r', "", "also remove folders, with all their contents"}}),
      .positional_min = 1,
      .examples = {"sandkeep rm draft.md", "sandkeep rm -r old-results"},
      .run = run_rm,
  };
}

}  // namespace sk::cli
