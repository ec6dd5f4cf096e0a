// usage: what counts for which quota and limit.
#include "base/text.h"
#include "cli/client/fields.h"
#include "cli/client/principals.h"
#include "cli/commands/commands.h"
#include "cli/frame/columns.h"

namespace sk::cli {

namespace {

void add_amount(Table& table, const std::string& label, const Json& amount) {
  table.add({label, human_size(number_field(amount, "bytes")),
             amount.contains("count") ? std::to_string(number_field(amount, "count")) : ""});
}

void add_count(Table& table, const std::string& label, const Json& part) {
  table.add({label, std::to_string(number_field(part, "count")),
             "of " + std::to_string(number_field(part, "max"))});
}

Table records_of(const Json& usage) {
  Table table({Align::left, Align::right, Align::right});
  add_amount(table, "contents", object_field(usage, "contents"));
  add_amount(table, "  of versions", object_field(usage, "versions"));
  if (usage.contains("trash")) add_amount(table, "  in the trash", object_field(usage, "trash"));
  add_amount(table, "  unfinished uploads", object_field(usage, "uploads"));
  add_amount(table, "messages", object_field(usage, "messages"));
  add_amount(table, "executions", object_field(usage, "executions"));
  add_amount(table, "journal", object_field(usage, "journal"));
  add_amount(table, "rows of files", object_field(usage, "entries"));
  if (usage.contains("purged_workspaces"))
    add_amount(table, "purged workspaces", object_field(usage, "purged_workspaces"));
  if (usage.contains("trashed_workspaces"))
    add_amount(table, "  of all: in trashed workspaces", object_field(usage, "trashed_workspaces"));
  return table;
}

ExitCode show_workspace(Invocation& call, const std::string& name) {
  auto remote = connect(call);
  auto usage = remote.call("GET", "/api/v1/workspaces/" + percent_encode(name) + "/usage");
  if (call.json()) {
    call.terminal.line(to_text(usage));
    return ExitCode::ok;
  }
  call.terminal.line(human_size(number_field(usage, "counted_bytes")) + " of " +
                     human_size(number_field(usage, "quota_bytes")) + " used");
  records_of(usage).print(call.terminal);
  return ExitCode::ok;
}

ExitCode run_usage(Invocation& call) {
  if (!call.arguments.positional.empty()) return show_workspace(call, call.positional(0));
  auto remote = connect(call);
  Query query;
  if (auto principal = call.arguments.value("principal"))
    query.emplace_back("principal", principal_id(remote, *principal));
  auto usage = remote.call("GET", "/api/v1/usage", query);
  if (call.json()) {
    call.terminal.line(to_text(usage));
    return ExitCode::ok;
  }
  bool has_quota = usage.contains("quota_bytes") && !usage["quota_bytes"].is_null();
  call.terminal.line(human_size(number_field(usage, "bytes")) +
                     (has_quota ? " of " + human_size(number_field(usage, "quota_bytes")) + " used"
                                : " used; only each workspace has a quota"));
  records_of(usage).print(call.terminal);
  Table counts({Align::left, Align::right, Align::left});
  add_count(counts, "workspaces", object_field(usage, "workspaces"));
  add_count(counts, "keys", object_field(usage, "keys"));
  add_count(counts, "running sessions", object_field(usage, "sessions_running"));
  add_count(counts, "sessions, running or asleep", object_field(usage, "sessions_kept"));
  counts.print(call.terminal);
  return ExitCode::ok;
}

}  // namespace

Command usage_command() {
  return {.name = "usage",
          .arguments = "[WORKSPACE]",
          .summary = "shows what you keep, and which limits it counts for",
          .about =
              "Without a workspace: everything that your workspaces keep together, and how many "
              "workspaces, keys and sessions you have. With one: what counts for its quota. Messages, "
              "executions, journal and the rows of files (entries, versions, former places) count for it "
              "beyond their first MiB. Above a full quota, another MiB of these is accepted, so that files "
              "can be removed.",
          .options = {{"principal", 0, "PRINCIPAL", "another principal; for administrators"}},
          .positional_max = 1,
          .examples = {"sandkeep usage", "sandkeep usage team"},
          .run = run_usage};
}

}  // namespace sk::cli
