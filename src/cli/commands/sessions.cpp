// sessions: what runs and sleeps.
#include <fcntl.h>

#include <filesystem>

#include "base/fd.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/when.h"

namespace sk::cli {

namespace {

ExitCode list_sessions(Invocation& call) {
  auto remote = call.remote();
  for_each_item(remote, "/api/v1/sessions", {}, [&](const Json& item) {
    if (call.json()) return call.terminal.line(to_text(item));
    call.terminal.line(text_field(item, "id") + "  " + text_field(item, "status") + "  " +
                       local_second(text_field(item, "active_at")) + "  " +
                       printable(text_field(item, "folder")));
  });
  return ExitCode::ok;
}

ExitCode run_remove(Invocation& call) {
  auto remote = call.remote();
  for (const auto& id : call.arguments.positional)
    remote.call("DELETE", "/api/v1/sessions/" + percent_encode(id) +
                              (call.arguments.has("force") ? "?force=true" : ""));
  return ExitCode::ok;
}

ExitCode run_export(Invocation& call) {
  auto remote = call.remote();
  std::string target = call.arguments.positional.size() > 1 ? call.positional(1) : "-";
  std::string format = call.arguments.value_or("format", target.ends_with(".py") ? "py" : "ipynb");
  std::string path = "/api/v1/sessions/" + percent_encode(call.positional(0)) + "/export";
  if (target == "-") {
    remote.stream(path, {{"format", format}}, [&](std::string_view bytes) { call.terminal.out(bytes); });
    return ExitCode::ok;
  }
  auto aside = target + ".part";
  {
    Fd file = open_file(aside, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    remote.stream(path, {{"format", format}},
                  [&](std::string_view bytes) { write_all(file.get(), as_bytes(bytes), aside); });
  }
  std::filesystem::rename(aside, target);
  call.print({{"path", target}}, "exported " + target);
  return ExitCode::ok;
}

}  // namespace

std::vector<Command> sessions_commands() {
  return {{.name = "sessions ls",
           .arguments = "",
           .summary = "lists your sessions, newest first",
           .about = "Id, status (running or asleep), last use, and the folder that the session's code sees "
                    "as /mnt/data.",
           .options = {},
           .positional_max = 0,
           .examples = {"sandkeep sessions ls"},
           .run = list_sessions},
          {.name = "sessions export",
           .arguments = "ID [FILE.ipynb|FILE.py|-]",
           .summary = "writes what ran in a session as a notebook or a program",
           .about = "A Jupyter notebook with all outputs, or a Python program; the file's ending decides. "
                    "Without a file it goes to standard output.",
           .options = {{"format", 0, "ipynb|py", "the format, where the file's name does not say it"}},
           .positional_min = 1,
           .positional_max = 2,
           .examples = {"sandkeep sessions export s_0… analysis.ipynb"},
           .run = run_export},
          {.name = "sessions rm",
           .arguments = "ID…",
           .summary = "ends sessions; their files stay",
           .about = "A session that has files which could not be kept, because of a full quota or a lock, is "
                    "not ended without --force: they are nowhere else.",
           .options = {{"force", 0, "", "also with files that could not be kept; they are lost"}},
           .positional_min = 1,
           .examples = {"sandkeep sessions rm s_0…"},
           .run = run_remove}};
}

}  // namespace sk::cli
