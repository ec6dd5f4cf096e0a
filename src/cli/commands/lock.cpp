// lock: acquire, renew, release, break, ls. 'lock run' is in lock_run.cpp.
#include "base/text.h"
#include "cli/client/fields.h"
#include "cli/commands/commands.h"
#include "cli/commands/locking.h"
#include "cli/frame/columns.h"
#include "cli/frame/when.h"

namespace sk::cli {

namespace {

ExitCode run_acquire(Invocation& call) {
  auto remote = connect(call);
  auto where = parse_remote_path(call.positional(0));
  auto lock = acquire_lock(call, remote, where);
  // Print only the token on standard output, so that TOKEN=$(sandkeep lock acquire …) works.
  call.print(lock, text_field(lock, "token"));
  if (!call.json())
    call.terminal.note("locked " +
                       printable(where.is_root() ? remote.workspace_of(where) + ":" : where.path) +
                       " until " + local_second(text_field(lock, "expires_at")) + ", fence " +
                       std::to_string(number_field(lock, "fence")));
  return ExitCode::ok;
}

ExitCode run_renew(Invocation& call) {
  auto remote = connect(call);
  Json body = {{"token", call.positional(0)}, {"ttl_s", lock_ttl_s(call.arguments)}};
  auto lock = remote.call("POST", remote.url({}, "locks/renew"), {}, body);
  call.print(lock, printable(text_field(lock, "path")) + " is locked until " +
                       local_second(text_field(lock, "expires_at")));
  return ExitCode::ok;
}

ExitCode run_release(Invocation& call) {
  auto remote = connect(call);
  for (const auto& token : call.arguments.positional) {
    remote.call("POST", remote.url({}, "locks/release"), {}, Json{{"token", token}});
    call.print({{"released", true}}, "released");
  }
  return ExitCode::ok;
}

ExitCode run_break(Invocation& call) {
  auto remote = connect(call);
  for (const auto& id : call.arguments.positional) {
    remote.call("DELETE", remote.url({}, "locks") + "/" + percent_encode(id));
    call.print({{"broken", id}}, printable(id) + " is broken");
  }
  return ExitCode::ok;
}

ExitCode list_locks(Invocation& call) {
  auto remote = connect(call);
  auto where = call.arguments.positional.empty() ? RemotePath{} : parse_remote_path(call.positional(0));
  Query query;
  if (!where.is_root()) query.emplace_back("below", where.path);
  Table table({Align::left, Align::left, Align::left, Align::left, Align::left, Align::left});
  for_each_item(remote, remote.url(where, "locks"), query, [&](const Json& lock) {
    if (call.json()) {
      call.terminal.line(to_text(lock));
      return;
    }
    auto kind = std::string(flag_field(lock, "shared") ? "shared" : "exclusive") +
                (flag_field(lock, "deep") ? "" : ", shallow");
    auto path = text_field(lock, "path");
    table.add({text_field(lock, "id"),
               {path.empty() ? "(everything)" : printable(path), Style::bold},
               kind,
               printable(text_field(object_field(lock, "owner"), "name")),
               {"until " + local_second(text_field(lock, "expires_at")), Style::dim},
               {printable(text_field(lock, "purpose")), Style::dim}});
  });
  table.print(call.terminal);
  return ExitCode::ok;
}

}  // namespace

std::vector<Command> lock_commands() {
  return {
      {.name = "lock acquire",
       .arguments = "PATH",
       .summary = "locks a path for writing, and prints the token",
       .about = "PATH is a file, a folder (with everything below it), or a path that does not exist yet. "
                "Until the lock is released or expires, writes there need its token: pass it with --lock, or "
                "in $SANDKEEP_LOCK.",
       .options = kLockOptions,
       .positional_min = 1,
       .positional_max = 1,
       .examples = {"TOKEN=$(sandkeep lock acquire data --ttl 10m --purpose 'nightly import')",
                    "sandkeep put --lock \"$TOKEN\" new.csv data/"},
       .run = run_acquire},
      {.name = "lock renew",
       .arguments = "TOKEN",
       .summary = "extends a lock from now",
       .about = "",
       .options = {kLockOptions[0]},
       .positional_min = 1,
       .positional_max = 1,
       .examples = {"sandkeep lock renew \"$TOKEN\" --ttl 10m"},
       .run = run_renew},
      {.name = "lock release",
       .arguments = "TOKEN…",
       .summary = "releases a lock",
       .about = "",
       .options = {},
       .positional_min = 1,
       .examples = {"sandkeep lock release \"$TOKEN\""},
       .run = run_release},
      {.name = "lock break",
       .arguments = "LOCK_ID…",
       .summary = "breaks another client's lock; for the workspace's owner",
       .about = "The journal records it. 'sandkeep lock ls' shows the ids.",
       .options = {},
       .positional_min = 1,
       .examples = {"sandkeep lock break lock_018f6b2c9d3e7a41b5c60d7e8f901234"},
       .run = run_break},
      {.name = "lock ls",
       .arguments = "[PATH]",
       .summary = "lists locks with their holders and expiry times",
       .about = "With a PATH, only locks at or below it.",
       .options = {},
       .positional_max = 1,
       .examples = {"sandkeep lock ls", "sandkeep lock ls data"},
       .run = list_locks},
  };
}

}  // namespace sk::cli
