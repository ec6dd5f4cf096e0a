// sessions: lists and manages running and sleeping sessions.
#include <fcntl.h>

#include <filesystem>

#include "base/fd.h"
#include "base/text.h"
#include "cli/client/fields.h"
#include "cli/commands/commands.h"
#include "cli/frame/columns.h"
#include "cli/frame/when.h"

namespace sk::cli {

namespace {

ExitCode list_sessions(Invocation& call) {
  auto remote = connect(call);
  for_each_item(remote, "/api/v1/sessions", {}, [&](const Json& item) {
    if (call.json()) return call.terminal.line(to_text(item));
    call.terminal.line(text_field(item, "id") + "  " + text_field(item, "status") + "  " +
                       local_second(text_field(item, "active_at")) + "  " +
                       printable(text_field(item, "folder")));
  });
  return ExitCode::ok;
}

// Adds a row for a file that a session could not store; unkept_table() defines the columns.
void add_unkept(Table& table, const Json& item) {
  auto version = optional_text(item, "version_id");
  table.add({text_field(item, "what"),
             text_field(item, "reason"),
             {version.empty() ? "-" : version, Style::dim},
             printable(text_field(item, "path"))});
}

Table unkept_table() { return Table({Align::left, Align::left, Align::left, Align::left}); }

std::string session_url(const Invocation& call) {
  return "/api/v1/sessions/" + percent_encode(call.positional(0));
}

ExitCode list_unkept(Invocation& call) {
  auto remote = connect(call);
  auto url = session_url(call) + "/unkept";
  if (call.arguments.has("dismiss")) {
    auto path = call.arguments.value("path");
    auto done = remote.call("DELETE", url + (path ? "?path=" + percent_encode(*path) : ""));
    call.print(done, "dismissed " + std::to_string(number_field(done, "dismissed")));
    return ExitCode::ok;
  }
  if (call.arguments.has("path")) throw Error(Code::bad_request, "--path is for --dismiss");
  Table table = unkept_table();
  for_each_item(remote, url, {}, [&](const Json& item) {
    if (call.json()) return call.terminal.line(to_text(item));
    add_unkept(table, item);
  });
  table.print(call.terminal);
  return ExitCode::ok;
}

ExitCode retry_unkept(Invocation& call) {
  auto remote = connect(call);
  auto done = remote.call("POST", session_url(call) + "/retry");
  auto remaining = number_field(done, "remaining");
  call.print(done, "settled " + std::to_string(number_field(done, "settled")) + ", " +
                       std::to_string(remaining) + " remain" + (remaining == 1 ? "s" : ""));
  if (!call.json()) {
    Table table = unkept_table();
    for (const auto& item : list_field(done, "items")) add_unkept(table, item);
    table.print(call.terminal);
    if (flag_field(done, "has_more"))
      call.terminal.line("… 'sandkeep sessions unkept " + call.positional(0) + "' lists all of them");
  }
  return remaining == 0 ? ExitCode::ok : ExitCode::failed;
}

ExitCode run_remove(Invocation& call) {
  auto remote = connect(call);
  for (const auto& id : call.arguments.positional)
    remote.call("DELETE", "/api/v1/sessions/" + percent_encode(id) +
                              (call.arguments.has("force") ? "?force=true" : ""));
  return ExitCode::ok;
}

ExitCode purge_records(Invocation& call) {
  if (!call.arguments.has("yes"))
    throw Error(Code::bad_request, "this would permanently delete code and outputs of executions")
        .hint("Add --yes to confirm. Files stay.");
  auto where = call.arguments.positional.empty() ? RemotePath{} : parse_remote_path(call.positional(0));
  if (!where.is_root()) throw Error(Code::bad_request, "'sessions purge' is for a whole workspace: WS:");
  auto remote = connect(call);
  Query query;
  if (auto before = call.arguments.value("before"))
    query.emplace_back("before", to_iso8601(parse_when(*before, call.clock.now_us())));
  if (auto session = call.arguments.value("session")) query.emplace_back("session", *session);
  Json total = {{"executions", 0}, {"sessions", 0}, {"bytes", 0}};
  for (bool has_more = true; has_more;) {
    auto done = remote.call("DELETE", remote.url(where, "executions"), query);
    for (auto& [name, value] : total.items()) value = value.get<int64_t>() + number_field(done, name);
    has_more = flag_field(done, "has_more");
  }
  call.print(total, "deleted the records of " + std::to_string(number_field(total, "executions")) +
                        " executions: " + human_size(number_field(total, "bytes")));
  return ExitCode::ok;
}

std::string export_format(const Invocation& call, const std::string& target) {
  if (auto format = call.arguments.value("format")) return *format;
  if (target.ends_with(".py")) return "py";
  if (target == "-" || target.ends_with(".ipynb")) return "ipynb";
  throw Error(Code::bad_request, "'" + target + "' ends in neither .ipynb nor .py")
      .hint("Choose one of these endings, or add --format ipynb or --format py.");
}

ExitCode run_export(Invocation& call) {
  std::string target = call.arguments.positional.size() > 1 ? call.positional(1) : "-";
  std::string format = export_format(call, target);
  auto remote = connect(call);
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
  return {
      {.name = "sessions ls",
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
       .summary = "exports the code of a session as a notebook or a program",
       .about = "Writes a Jupyter notebook with all outputs, or a Python program, depending on the file's "
                "extension. Without a file, writes to standard output.",
       .options = {{"format", 0, "ipynb|py", "the format, if the file's name does not determine it"}},
       .positional_min = 1,
       .positional_max = 2,
       .examples = {"sandkeep sessions export s_0… analysis.ipynb"},
       .run = run_export},
      {.name = "sessions unkept",
       .arguments = "ID",
       .summary = "lists content that a session could not keep",
       .about = "One line for each file: 'refused' (a full quota or an invalid name: it exists only in the "
                "session), 'aside' (locked by another client: its bytes are a version beside the head) or "
                "'recovered' (found after a power cut: a version that may be torn); then the reason, the "
                "version and the path. 'sandkeep cat WS:PATH@VERSION' reads a version, 'sandkeep restore' "
                "makes it the head.",
       .options = {{"dismiss", 0, "",
                    "removes items that were kept aside or recovered from the list; versions stay"},
                   {"path", 0, "PATH", "with --dismiss: only the item at this path"}},
       .positional_min = 1,
       .positional_max = 1,
       .examples = {"sandkeep sessions unkept s_0…",
                    "sandkeep sessions unkept s_0… --dismiss --path reports/q1.csv"},
       .run = list_unkept},
      {.name = "sessions retry",
       .arguments = "ID",
       .summary = "tries again to keep content that a session could not keep",
       .about = "Use it once the reason is gone: the quota was raised, the lock released, or space freed. "
                "Refused content is stored, and content that was kept aside becomes the head, unless another "
                "client wrote the file since. Exits with 1 while refused or aside items remain.",
       .options = {},
       .positional_min = 1,
       .positional_max = 1,
       .examples = {"sandkeep sessions retry s_0…"},
       .run = retry_unkept},
      {.name = "sessions rm",
       .arguments = "ID…",
       .summary = "deletes sessions; their files stay",
       .about = "A session with files that could not be kept, because of a full quota or an invalid name, is "
                "deleted only with --force: they exist nowhere else.",
       .options = {{"force", 0, "", "delete it even with files that could not be kept; they are lost"}},
       .positional_min = 1,
       .examples = {"sandkeep sessions rm s_0…"},
       .run = run_remove},
      {.name = "sessions purge",
       .arguments = "[WS:]",
       .summary = "permanently deletes records of executions; files stay",
       .about = "Code, outputs and lists of files of finished executions count for the workspace's quota, "
                "also those of deleted sessions; this deletes them. Files and their versions stay. For the "
                "workspace's owner.",
       .options = {{"before", 0, "WHEN", "only what ended before: 30d, 2h, or a time such as 2026-03-01"},
                   {"session", 0, "ID", "only executions of this session"},
                   {"yes", 'y', "", "confirm: deleted records cannot be restored"}},
       .positional_max = 1,
       .examples = {"sandkeep sessions purge --before 30d --yes", "sandkeep sessions purge team: --yes"},
       .run = purge_records}};
}

}  // namespace sk::cli
