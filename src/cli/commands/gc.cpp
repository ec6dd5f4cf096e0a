// gc: deletes unreferenced data.
#include "base/text.h"
#include "cli/client/fields.h"
#include "cli/commands/commands.h"

namespace sk::cli {

namespace {

ExitCode run_gc(Invocation& call) {
  auto remote = connect(call);
  auto result = remote.call_patiently("POST", "/api/v1/gc");
  call.print(result, "deleted " + std::to_string(number_field(result, "blobs")) + " blobs and " +
                         std::to_string(number_field(result, "orphans")) + " orphans, " +
                         human_size(number_field(result, "freed_bytes")) + " freed");
  return ExitCode::ok;
}

}  // namespace

Command gc_command() {
  return {
      .name = "gc",
      .arguments = "",
      .summary = "deletes unreferenced stored bytes; for administrators",
      .about = "The server does this automatically (gc_interval_s); this command does it now.",
      .options = {},
      .positional_max = 0,
      .examples = {"sandkeep gc"},
      .run = run_gc,
  };
}

}  // namespace sk::cli
