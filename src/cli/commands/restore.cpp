// restore: makes an old version current, or restores a folder as of a time. Neither loses data.
#include "cli/client/fields.h"
#include "cli/client/versions.h"
#include "cli/commands/commands.h"
#include "cli/frame/columns.h"
#include "cli/frame/when.h"

namespace sk::cli {

namespace {

ExitCode restore_as_of(const Invocation& call, Remote& remote) {
  auto where = call.arguments.positional.empty() ? RemotePath{} : parse_remote_path(call.positional(0));
  auto time_us = parse_when(*call.arguments.value("as-of"), call.clock.now_us());
  bool dry_run = call.arguments.has("dry-run");
  if (call.arguments.has("if-match"))
    throw Error(Code::bad_request, "--if-match goes with --version, not with --as-of");
  Json body = {{"folder", where.path}, {"time", to_iso8601(time_us)}, {"dry_run", dry_run}};
  http::Headers headers;
  write_conditions(call, remote, where).add_to(headers);
  auto result = remote.call("POST", remote.url(where, "restore-as-of"), {}, body, headers);
  auto count = [&](const char* name) { return std::to_string(number_field(result, name)); };
  auto shown = where.is_root() ? "workspace " + remote.workspace_of(where) : where.path;
  auto human = dry_run ? "would restore " + count("restored") + ", trash " + count("trashed") + ", leave " +
                             count("unchanged") + " unchanged in " + printable(shown)
                       : "restored " + count("restored") + ", trashed " + count("trashed") + ", left " +
                             count("unchanged") + " unchanged in " + printable(shown);
  call.print(result, human + " (as of " + local_second(to_iso8601(time_us)) + ")");
  return ExitCode::ok;
}

ExitCode run_restore(Invocation& call) {
  bool by_time = call.arguments.has("as-of");
  auto wanted = call.arguments.value("version");
  if (by_time && wanted) throw Error(Code::bad_request, "use --version or --as-of, not both");
  if (!by_time && call.arguments.has("dry-run"))
    throw Error(Code::bad_request, "--dry-run goes with --as-of");
  auto remote = connect(call);
  if (by_time) return restore_as_of(call, remote);

  if (call.arguments.positional.empty())
    throw Error(Code::bad_request, "'restore' needs a version id, or a PATH with --version, or --as-of TIME")
        .hint(
            "'sandkeep restore --help' shows the three forms. To restore removed files, use 'sandkeep trash "
            "restore'.");
  const auto& word = call.positional(0);
  RemotePath where;
  std::string version_id;
  if (is_version_id(word) && !wanted) {
    version_id = word;
  } else {
    where = parse_remote_path(word);
    if (!wanted)
      throw Error(Code::bad_request, "which version of " + where.path + "? Add --version")
          .hint("'sandkeep log " + where.path + "' lists them.");
    version_id = text_field(find_version(remote, where, *wanted), "id");
  }
  http::Headers headers;
  write_conditions(call, remote, where).add_to(headers);
  auto result = remote.call("POST", remote.url(where, "restore-version"), {},
                            Json{{"version_id", version_id}}, headers);
  auto path = printable(text_field(object_field(result, "entry"), "path"));
  auto human = flag_field(result, "unchanged")
                   ? path + " already has these bytes"
                   : path + " is restored, as version " +
                         std::to_string(number_field(object_field(result, "version"), "number"));
  call.print(result, human);
  return ExitCode::ok;
}

}  // namespace

Command restore_command() {
  return {
      .name = "restore",
      .arguments = "PATH --version VERSION | VERSION_ID | --as-of TIME [FOLDER]",
      .summary = "restores an old version, or the state of a folder at a time",
      .about =
          "A restored version becomes the newest one, as a new version. --as-of restores a folder (without "
          "FOLDER, the whole workspace) to its state at that time, in one step; entries created later are "
          "moved to the trash. TIME is 2026-03-01T12:30:00Z, '2026-03-01 12:30' (local), or how long ago: "
          "15m, 2h, 3d. To restore removed files, use 'sandkeep trash restore'.",
      .options = with_write_options({
          {"version", 0, "VERSION", "an id (v_…) or a number, as 'sandkeep log' shows them"},
          {"as-of", 0, "TIME", "the time to restore"},
          {"dry-run", 'n', "", "with --as-of: only show what would change"},
      }),
      .positional_max = 1,
      .examples = {"sandkeep restore report.csv --version 3", "sandkeep restore --as-of 2h --dry-run data",
                   "sandkeep restore --as-of '2026-03-01 12:30'"},
      .run = run_restore,
  };
}

}  // namespace sk::cli
