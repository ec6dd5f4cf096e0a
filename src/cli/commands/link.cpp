// link: prints the permanent link of a version.
#include "base/text.h"
#include "cli/client/fields.h"
#include "cli/client/versions.h"
#include "cli/commands/commands.h"

namespace sk::cli {

namespace {

ExitCode run_link(Invocation& call) {
  auto remote = connect(call);
  auto where = parse_remote_path(call.positional(0));
  auto wanted = call.arguments.value("version");
  std::string version_id;
  if (wanted) {
    version_id = text_field(find_version(remote, where, *wanted), "id");
  } else {
    auto entry = get_entry(remote, where);
    if (text_field(entry, "kind") == "folder")
      throw Error(Code::bad_request, "'" + call.positional(0) + "' is a folder; links are to files");
    version_id = text_field(entry, "version_id");
  }
  auto version = remote.call("GET", remote.url(where, "version") + "/" + percent_encode(version_id));
  call.print(version, text_field(version, call.arguments.has("signed") ? "signed_link" : "link"));
  return ExitCode::ok;
}

}  // namespace

Command link_command() {
  return {
      .name = "link",
      .arguments = "PATH",
      .summary = "prints the permanent link to a file's current version",
      .about =
          "The link returns exactly these bytes, even after the file was overwritten, renamed or trashed. It "
          "opens for members of the workspace. A signed link opens without a key, until 'sandkeep workspace "
          "revoke-links'.",
      .options = {{"signed", 0, "", "a link that opens without a key"},
                  {"version", 0, "VERSION",
                   "to this version: an id (v_…) or a number, as 'sandkeep log' shows them"}},
      .positional_min = 1,
      .positional_max = 1,
      .examples = {"sandkeep link plot.png", "sandkeep link --signed plot.png"},
      .run = run_link,
  };
}

}  // namespace sk::cli
