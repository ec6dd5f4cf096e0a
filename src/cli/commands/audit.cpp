// audit: exports the journal to a file, and verifies such a file without a server.
#include "base/fd.h"
#include "cli/client/local_files.h"
#include "cli/commands/commands.h"
#include "cli/frame/columns.h"
#include "cli/frame/when.h"
#include "server/server.h"

namespace sk::cli {

namespace {

ExitCode run_export(Invocation& call) {
  InterruptGuard interrupt(call.terminal);
  auto remote = connect(call);
  bool of_server = call.arguments.has("of-server");
  auto where = call.arguments.positional.empty() ? RemotePath{} : parse_remote_path(call.positional(0));
  if (!where.is_root())
    throw Error(Code::bad_request, "'audit export' exports a whole workspace's journal: WS:");
  auto url = of_server ? "/api/v1/audit" : remote.url(where, "audit");
  auto output = call.arguments.value_or("output", "-");
  if (output == "-") {
    remote.stream(url, {}, [&](std::string_view bytes) { call.terminal.out(bytes); });
    return ExitCode::ok;
  }
  AsideFile file(output, interrupt);
  remote.stream(url, {}, [&](std::string_view bytes) { file.write(bytes); });
  file.finish(0600, call.clock.now_us());
  call.print({{"file", output}},
             "wrote " + printable(output) + "; 'sandkeep audit verify' checks it without a server");
  return ExitCode::ok;
}

ExitCode run_verify(Invocation& call) {
  const auto& path = call.positional(0);
  // Report path errors separately from errors of the journal.
  if (is_folder(path))
    throw Error(Code::bad_request, path + " is a folder")
        .hint("Name the file that 'sandkeep audit export' wrote.");
  open_local(path);
  auto trusted = call.arguments.value("public-key");
  auto verdict = server::verify_audit(path, trusted ? read_file(*trusted, 1 << 16) : "");
  Json facts = {{"valid", verdict.valid},
                {"problem", verdict.problem},
                {"entries", verdict.entries},
                {"checkpoints", verdict.checkpoints},
                {"first", verdict.entries > 0 ? Json(to_iso8601(verdict.first_us)) : Json(nullptr)},
                {"last", verdict.entries > 0 ? Json(to_iso8601(verdict.last_us)) : Json(nullptr)},
                {"public_key", verdict.public_key}};
  if (!verdict.valid) {
    call.print(facts, call.terminal.paint_out(Style::red, "NOT VALID") + "  " + printable(verdict.problem));
    return ExitCode::damaged;
  }
  auto human = call.terminal.paint_out(Style::green, "valid") + "  " + std::to_string(verdict.entries) +
               " entries, " + std::to_string(verdict.checkpoints) +
               (verdict.checkpoints == 1 ? " signed checkpoint" : " signed checkpoints");
  if (verdict.entries > 0)
    human += ", " + local_second(to_iso8601(verdict.first_us)) + " to " +
             local_second(to_iso8601(verdict.last_us));
  if (!trusted)
    human +=
        "\nsigned by the key that the file itself names; --public-key FILE checks that it is your server's";
  call.print(facts, human);
  return ExitCode::ok;
}

}  // namespace

std::vector<Command> audit_commands() {
  return {
      {.name = "audit export",
       .arguments = "[WS:]",
       .summary = "writes a workspace's journal, with its signatures, as lines of JSON",
       .about = "",
       .options = {{"output", 'o', "FILE", "into this file instead of standard output"},
                   {"of-server", 0, "", "the server's own journal: principals and keys; for administrators"}},
       .positional_max = 1,
       .examples = {"sandkeep audit export -o audit.jsonl"},
       .run = run_export},
      {.name = "audit verify",
       .arguments = "FILE",
       .summary = "checks an exported journal, without a server",
       .about = "Checks that every entry follows from the one before it, and that every signature is valid. "
                "Exit code 8 if anything was changed, added or removed.",
       .options = {{"public-key", 0, "FILE",
                    "the server's public key (PEM); otherwise the key in the export is trusted"}},
       .positional_min = 1,
       .positional_max = 1,
       .examples = {"sandkeep audit verify audit.jsonl"},
       .run = run_verify,
       .reads = Reads::local},
  };
}

}  // namespace sk::cli
