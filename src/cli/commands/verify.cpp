// verify: checks every stored byte and every reference.
#include "base/text.h"
#include "cli/client/fields.h"
#include "cli/commands/commands.h"
#include "cli/frame/columns.h"

namespace sk::cli {

namespace {

ExitCode run_verify(Invocation& call) {
  auto remote = connect(call);
  auto result = remote.call_patiently("POST", "/api/v1/verify");
  const auto& problems = list_field(result, "problems");
  auto count = [&](const char* name) { return std::to_string(number_field(result, name)); };
  auto human = call.terminal.paint_out(problems.empty() ? Style::green : Style::red,
                                       problems.empty() ? "clean" : "DAMAGED") +
               "  read " + count("blobs") + " blobs, " + human_size(number_field(result, "bytes")) +
               "; followed " + count("versions") + " versions, " + count("entries") + " entries, " +
               count("journal_entries") + " journal entries";
  for (const auto& problem : problems)
    human += "\n  " + printable(problem.is_string() ? problem.get<std::string>() : to_text(problem));
  call.print(result, human);
  return problems.empty() ? ExitCode::ok : ExitCode::damaged;
}

}  // namespace

Command verify_command() {
  return {
      .name = "verify",
      .arguments = "",
      .summary = "reads every stored byte and follows every reference; for administrators",
      .about = "Takes as long as reading the whole store. Exit code 8 when something is damaged.",
      .options = {},
      .positional_max = 0,
      .examples = {"sandkeep verify"},
      .run = run_verify,
  };
}

}  // namespace sk::cli
