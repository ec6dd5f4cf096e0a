// run: runs a program in a sandboxed session, streams its output, then lists the files it wrote with links.
#include <iostream>
#include <iterator>

#include "cli/client/canceller.h"
#include "cli/client/execution.h"
#include "cli/client/fields.h"
#include "cli/client/local_files.h"
#include "cli/client/remote_path.h"
#include "cli/commands/commands.h"

namespace sk::cli {

namespace {

std::string read_program(const std::string& source) {
  if (source != "-") return read_local(source, 8 << 20);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

// Returns the program's own exit code, as if it had run locally; 1 for a traceback and for every other end.
ExitCode exit_code_of_run(const Json& done) {
  auto code = done.find("exit_code");
  if (ended_by_itself(done) && code != done.end() && code->is_number_integer())
    return static_cast<ExitCode>(code->get<int>() & 0xff);
  return ended_well(done) ? ExitCode::ok : ExitCode::failed;
}

ExitCode run_run(Invocation& call) {
  std::string code = read_program(call.positional(0));
  Canceller canceller(target_of(call), Canceller::For::run);
  auto remote = connect(call);
  std::string session = call.arguments.value_or("session", "");
  if (session.empty()) {
    Json wanted = Json::object();
    auto name =
        call.positional(0) == "-" ? "run" : call.positional(0).substr(call.positional(0).rfind('/') + 1);
    wanted["name"] = call.arguments.value_or("name", name);
    if (auto folder = call.arguments.value("folder")) wanted["folder"] = *folder;
    wanted["workspace"] = remote.workspace_of({});
    session = text_field(remote.call("POST", "/api/v1/sessions", {}, wanted), "id");
  }
  Json body = {{"code", code}};
  bool bash = call.arguments.has("bash") || call.positional(0).ends_with(".sh");
  if (bash) body["language"] = "bash";
  ExecutionEvents events;
  if (!call.json()) events.on_output = [&](const Json& output) { show_output(call.terminal, output); };
  auto executions = "/api/v1/sessions/" + percent_encode(session) + "/executions/";
  events.on_start = [&](const std::string& id) { canceller.running(executions + id); };
  canceller.sending();
  Json done = run_code(remote, session, std::move(body), events);
  if (call.json())
    call.terminal.line(to_text(done));
  else
    show_answer(call.terminal, done);
  return canceller.interrupted() ? ExitCode::interrupted : exit_code_of_run(done);
}

}  // namespace

Command run_command() {
  return {
      .name = "run",
      .arguments = "FILE.py|FILE.sh|-",
      .summary = "runs a program in a sandbox and stores the files that it writes",
      .about =
          "Shows the program's output while it runs, the value of its last expression, as a notebook does, "
          "and then each file that it wrote into its folder, with its permanent link. Without --session it "
          "runs in a new session, whose folder is sessions/<name>-<id>. "
          "Exits with the program's own code. Ctrl-C cancels the program and shows the stored files; a "
          "second Ctrl-C exits at once.",
      .options = {{"session", 0, "ID", "run in this session, which keeps its variables between runs"},
                  {"name", 0, "NAME", "name of the new session"},
                  {"folder", 0, "PATH", "the workspace's folder that the program sees as /mnt/data"},
                  {"bash", 0, "", "the program is a shell script"}},
      .positional_min = 1,
      .positional_max = 1,
      .examples = {"sandkeep run analysis.py", "echo 'print(6*7)' | sandkeep run -"},
      .run = run_run,
  };
}

}  // namespace sk::cli
