// cat: writes files to standard output.
#include "cli/client/download.h"
#include "cli/client/fields.h"
#include "cli/client/versions.h"
#include "cli/commands/commands.h"

namespace sk::cli {

namespace {

ExitCode run_cat(Invocation& call) {
  auto version = call.arguments.value("version");
  if (version && call.arguments.positional.size() > 1)
    throw Error(Code::bad_request, "--version is for a single file");
  auto remote = connect(call);
  for (const auto& word : call.arguments.positional) {
    auto where = parse_remote_path(word);
    auto id = version ? text_field(find_version(remote, where, *version), "id") : "";
    download_stream(remote, where, id, [&](std::string_view bytes) { call.terminal.out(bytes); });
  }
  return ExitCode::ok;
}

}  // namespace

Command cat_command() {
  return {
      .name = "cat",
      .arguments = "PATH…",
      .summary = "writes files to standard output",
      .about =
          "Writes the bytes unchanged, one file after the other. With --json, only errors are JSON; "
          "'sandkeep ls --json PATH' shows the metadata.",
      .options = {{"version", 0, "VERSION",
                   "this version of the file: an id (v_…) or a number, as 'sandkeep log' shows them"}},
      .positional_min = 1,
      .examples = {"sandkeep cat notes.txt", "sandkeep cat notes.txt --version 1"},
      .run = run_cat,
  };
}

}  // namespace sk::cli
