// run: a program in a sandboxed session; its output as it comes, then what it wrote, with links.
#include <iostream>
#include <iterator>

#include "base/fd.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/remote_path.h"

namespace sk::cli {

namespace {

std::string read_program(const std::string& source) {
  if (source != "-") return read_file(source, 8 << 20);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

// The data of server-sent events, as their pieces arrive.
class Events {
 public:
  explicit Events(std::function<void(const std::string& name, const Json& data)> take)
      : take_(std::move(take)) {}
  void feed(std::string_view bytes) {
    text_ += bytes;
    for (size_t end; (end = text_.find("\n\n")) != std::string::npos; text_.erase(0, end + 2))
      event(text_.substr(0, end));
  }

 private:
  void event(const std::string& block) {
    std::string name, data;
    for (auto line : split(block, '\n')) {
      if (line.starts_with("event:")) name = trim(line.substr(6));
      if (line.starts_with("data:")) data += line.substr(line.starts_with("data: ") ? 6 : 5);
    }
    if (!data.empty()) take_(name, Json::parse(data));
  }

  const std::function<void(const std::string&, const Json&)> take_;
  std::string text_;
};

void show_output(Invocation& call, const Json& output) {
  auto type = text_field(output, "type");
  if (type == "stdout")
    call.terminal.out(text_field(output, "text"));
  else if (type == "stderr")
    std::cerr << text_field(output, "text") << std::flush;
  else if (type == "note")
    call.terminal.note(text_field(output, "text"));
  else if (type == "error")
    call.terminal.note(text_field(output, "traceback"));
  else if (auto data = output.find("data"); data != output.end() && data->contains("text/plain"))
    call.terminal.line((*data)["text/plain"].get<std::string>());
  call.terminal.flush();
}

void show_files(Invocation& call, const Json& done) {
  for (const auto& file : list_field(done, "kept"))
    call.terminal.note("kept  " + text_field(file, "path") + "  " + text_field(file, "link"));
  for (const auto& item : list_field(done, "not_kept"))
    call.terminal.note("not kept  " + text_field(item, "path") + ": " + text_field(item, "message"));
}

ExitCode run_run(Invocation& call) {
  std::string code = read_program(call.positional(0));
  auto remote = call.remote();
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
  Json body = {{"code", code}, {"stream", true}};
  bool bash = call.arguments.has("bash") || call.positional(0).ends_with(".sh");
  if (bash) body["language"] = "bash";
  Json done;
  Events events([&](const std::string& name, const Json& data) {
    if (name == "done")
      done = data;
    else if (name == "output" && !call.json())
      show_output(call, data);
  });
  auto request = request_to("POST", "/api/v1/sessions/" + session + "/executions");
  request.headers.set("Content-Type", "application/json");
  request.headers.set("Accept", "text/event-stream");
  request.body = to_text(body);
  request.body_sink = [&](std::string_view bytes) {
    events.feed(bytes);
    return true;
  };
  auto response = remote.send(std::move(request));
  if (response.status >= 400) throw to_error(response, remote.target());
  if (done.is_null())
    throw Error(Code::unavailable,
                "the server went away before the program ended; what it had written by then is kept");
  if (call.json())
    call.terminal.line(to_text(done));
  else
    show_files(call, done);
  auto end = text_field(done, "end");
  if (end == "ok") return ExitCode::ok;
  if (!call.json() && end != "error")
    call.terminal.note("ended by " + end + ": " + text_field(done, "message"));
  return ExitCode::failed;
}

}  // namespace

Command run_command() {
  return {
      .name = "run",
      .arguments = "FILE.py|FILE.sh|-",
      .summary = "runs a program in a sandbox and keeps what it writes",
      .about =
          "The program's output comes as it runs; then each file that it wrote into its folder, with its "
          "permanent link. "
          "Without --session it runs in a new session, whose folder is sessions/<name>-<id>.",
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
