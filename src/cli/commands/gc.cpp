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
                         human_size(number_field(result, "freed_bytes")) + " are free again");
  return ExitCode::ok;
}

}  // namespace

Command gc_command() {
  return {
      .name = "gc",
      .arguments = "",
      .summary = "deletes stored bytes that nothing refers to; for administrators",
      .about = "The server does this by itself every hour; this does it now.",
      .options = {},
      .positional_max = 0,
      .examples = {"sandkeep gc"},
      .run = run_gc,
  };
}

}  // namespace sk::cli
