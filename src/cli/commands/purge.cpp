// purge: deletes one old version of a file for ever.
#include "base/error.h"
#include "base/text.h"
#include "cli/client/fields.h"
#include "cli/client/versions.h"
#include "cli/commands/commands.h"
#include "cli/commands/purging.h"
#include "cli/frame/columns.h"

namespace sk::cli {

namespace {

ExitCode purge_one_version(Invocation& call) {
  auto where = parse_remote_path(call.positional(0));
  auto wanted = call.arguments.value("version");
  if (!wanted)
    throw Error(Code::bad_request, "which version of " + where.path + "? Add --version")
        .hint("'sandkeep log " + where.path +
              "' lists them. To purge a whole file, use 'sandkeep rm', then "
              "'sandkeep trash purge'.");
  auto remote = connect(call);
  // Find it first: an unknown version must not ask for --yes.
  auto version = find_version(remote, where, *wanted);
  need_yes(call,
           "version " + std::to_string(number_field(version, "number")) + " of " + printable(where.path));
  http::Headers headers;
  write_conditions(call, remote, where).add_to(headers);
  print_purged(call, remote.call("DELETE", remote.url(where, "version") + "/" + text_field(version, "id"), {},
                                 {}, headers));
  return ExitCode::ok;
}

}  // namespace

Command purge_command() {
  return {.name = "purge",
          .arguments = "PATH --version VERSION",
          .summary = "permanently deletes one old version of a file",
          .about =
              "For the workspace's owner. Its link answers 410 from then on; the other versions stay. The "
              "current version cannot be purged. To purge a whole file, use 'sandkeep rm', then 'sandkeep "
              "trash purge'.",
          .options = {{"version", 0, "VERSION", "an id (v_…) or a number, as 'sandkeep log' shows them"},
                      kYes,
                      kWriteOptions[0],
                      kWriteOptions[2]},
          .positional_min = 1,
          .positional_max = 1,
          .examples = {"sandkeep purge report.csv --version 3 --yes"},
          .run = purge_one_version};
}

}  // namespace sk::cli
