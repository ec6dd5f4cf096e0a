// shell: an interactive session like Python's prompt, but in a sandbox and with permanent files.
#include <filesystem>

#include "base/text.h"
#include "cli/client/canceller.h"
#include "cli/client/execution.h"
#include "cli/client/fields.h"
#include "cli/commands/cell_reader.h"
#include "cli/commands/commands.h"
#include "cli/frame/line_editor.h"

namespace sk::cli {

namespace {

constexpr std::string_view kHelp =
    "Type Python; a blank line ends a block. !command runs a shell command, %%bash a script.\nFiles that you "
    "write are kept, each with a permanent link.\n  :files    what is in the session's folder     :sleep   "
    "ends the process, keeps the files\n  :session  its id and folder                   :quit    leaves; so "
    "does Ctrl-D\nCtrl-C interrupts running code; variables stay.";

std::string history_file(const Environment& environment) {
  auto value = [&](const char* name) {
    auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  std::string base = value("XDG_STATE_HOME");
  if (base.empty() && !value("HOME").empty()) base = value("HOME") + "/.local/state";
  if (base.empty()) return {};
  std::error_code failed;
  std::filesystem::create_directories(base + "/sandkeep", failed);
  return failed ? std::string() : base + "/sandkeep/shell_history";
}

class Shell {
 public:
  explicit Shell(Invocation& call)
      : call_(call),
        canceller_(target_of(call), Canceller::For::shell),
        remote_(connect(call)),
        lines_(call.terminal, history_file(call.environment)) {}

  ExitCode run() {
    open_session();
    if (call_.terminal.in_is_tty())
      call_.terminal.note("Session " + text_field(session_, "id") + " in " + text_field(session_, "folder") +
                          ". :help helps, Ctrl-D leaves.");
    while (auto cell = read_cell()) {
      if (trim(*cell).empty()) continue;
      lines_.remember(*cell);
      if (!cell->starts_with(':'))
        run_cell(*cell);
      else if (!obey(std::string(trim(*cell))))
        break;
    }
    if (call_.terminal.in_is_tty())
      call_.terminal.note("The files stay in " + text_field(session_, "folder") +
                          "; 'sandkeep shell --session " + text_field(session_, "id") + "' comes back.");
    return last_;
  }

 private:
  void open_session() {
    if (auto id = call_.arguments.value("session")) {
      session_ = remote_.call("GET", "/api/v1/sessions/" + percent_encode(*id));
      return;
    }
    Json wanted = {{"name", call_.arguments.value_or("name", "shell")},
                   {"workspace", remote_.workspace_of({})}};
    if (auto folder = call_.arguments.value("folder")) wanted["folder"] = *folder;
    if (auto memory = call_.arguments.value("memory")) wanted["memory"] = *memory;
    session_ = remote_.call("POST", "/api/v1/sessions", {}, wanted);
  }

  std::optional<std::string> read_cell() {
    std::string cell;
    for (bool more = false;; more = true) {
      auto line = lines_.read(more ? "... " : ">>> ");
      if (!line) return more && !cell.empty() ? std::optional(cell) : std::nullopt;
      if (line->abandoned) return "";
      cell.append(more ? "\n" : "").append(line->text);
      if (is_whole_cell(cell)) return cell;
    }
  }

  // Runs a command of the shell. Returns false if the shell should end.
  bool obey(const std::string& command) {
    if (command == ":quit" || command == ":q") return false;
    try {
      run_command(command);
    } catch (const Error& error) {
      show_error(error);
    }
    call_.terminal.flush();
    return true;
  }

  void run_command(const std::string& command) {
    auto path = "/api/v1/sessions/" + text_field(session_, "id");
    if (command == ":session") {
      call_.terminal.line(text_field(session_, "id") + "  " + text_field(session_, "folder"));
    } else if (command == ":sleep") {
      remote_.call("POST", path + "/sleep");
      call_.terminal.line("asleep; the next line wakes it, with its files but without its variables");
    } else if (command == ":files") {
      show_folder();
    } else {
      call_.terminal.line(kHelp);
    }
  }

  void run_cell(const std::string& cell) {
    ExecutionEvents events;
    auto path = "/api/v1/sessions/" + text_field(session_, "id") + "/executions/";
    events.on_output = [&](const Json& output) { show_output(call_.terminal, output); };
    events.on_start = [&](const std::string& id) { canceller_.running(path + id); };
    try {
      Json done = run_code(remote_, text_field(session_, "id"), {{"code", cell}}, events);
      show_answer(call_.terminal, done);
      last_ = ended_well(done) ? ExitCode::ok : ExitCode::failed;
    } catch (const Error& error) {
      show_error(error);
    }
    canceller_.running("");
  }

  void show_error(const Error& error) {
    call_.terminal.note(call_.terminal.paint_err(Style::red, "error: ") + error.message());
    last_ = exit_code_of(error.code());
  }

  // A session has its folder only when code has written something.
  void show_folder() {
    auto url = "/api/v1/workspaces/" + text_field(session_, "workspace_id") + "/list";
    size_t count = 0;
    try {
      for_each_item(remote_, url, {{"folder", text_field(session_, "folder")}, {"recursive", "true"}},
                    [&](const Json& item) {
                      ++count;
                      call_.terminal.line(text_field(item, "path"));
                    });
    } catch (const Error& error) {
      if (error.code() != Code::not_found) throw;
    }
    if (count == 0) call_.terminal.line("no files yet");
  }

  Invocation& call_;
  Canceller canceller_;
  Remote remote_;
  LineEditor lines_;
  Json session_;
  ExitCode last_ = ExitCode::ok;
};

ExitCode run_shell(Invocation& call) { return Shell(call).run(); }

}  // namespace

Command shell_command() {
  return {
      .name = "shell",
      .arguments = "",
      .summary = "a Python prompt in a sandbox, whose files are kept",
      .about =
          "Shows output as it is printed, then each file that a line wrote with its permanent link, "
          "including images. Lines can be edited and found again (Ctrl-R). Ctrl-C interrupts running code "
          "and keeps the variables. Reads standard input if that is not a terminal.",
      .options = {{"session", 0, "ID", "continue in this session"},
                  {"name", 0, "NAME", "name of the new session"},
                  {"folder", 0, "PATH", "the workspace's folder that code sees as /mnt/data"},
                  {"memory", 0, "SIZE", "such as 4g"}},
      .positional_max = 0,
      .examples = {"sandkeep shell", "sandkeep shell --folder analysis"},
      .run = run_shell,
  };
}

}  // namespace sk::cli
