// workspace: create, ls, rename, rm, restore, purge, quota, member, revoke-links.
#include "base/text.h"
#include "cli/client/fields.h"
#include "cli/client/principals.h"
#include "cli/client/remote_path.h"
#include "cli/commands/commands.h"
#include "cli/commands/purging.h"
#include "cli/frame/columns.h"
#include "cli/frame/when.h"

namespace sk::cli {

namespace {

const std::string kUrl = "/api/v1/workspaces";

std::string url_of(const std::string& workspace) { return kUrl + "/" + percent_encode(workspace); }

uint64_t parse_quota(const std::string& text) {
  auto bytes = parse_size(text);
  if (!bytes) throw Error(Code::bad_request, "'" + text + "' is not a size; write 500 MiB, 50G, 1.5 TB");
  return *bytes;
}

ExitCode run_create(Invocation& call) {
  auto remote = connect(call);
  Json body = {{"name", call.positional(0)}};
  if (auto quota = call.arguments.value("quota")) body["quota_bytes"] = parse_quota(*quota);
  auto made = remote.call("POST", kUrl, {}, body);
  call.print(made,
             "made workspace " + printable(text_field(made, "name")) + " (" + text_field(made, "id") + ")");
  return ExitCode::ok;
}

ExitCode list_workspaces(Invocation& call) {
  auto remote = connect(call);
  Query query;
  if (call.arguments.has("trashed")) query.emplace_back("trashed", "true");
  if (call.arguments.has("all")) query.emplace_back("all", "true");
  Table table({Align::left, Align::left, Align::left, Align::left, Align::right, Align::left});
  for_each_item(remote, kUrl, query, [&](const Json& workspace) {
    if (call.json()) {
      call.terminal.line(to_text(workspace));
      return;
    }
    auto trashed = optional_text(workspace, "trashed_at");
    table.add({{printable(text_field(workspace, "name")), Style::bold},
               text_field(workspace, "id"),
               printable(text_field(object_field(workspace, "owner"), "name")),
               text_field(workspace, "role"),
               human_size(number_field(workspace, "used_bytes")),
               {"of " + human_size(number_field(workspace, "quota_bytes")) +
                    (trashed.empty() ? "" : ", removed " + local_minute(trashed)),
                Style::dim}});
  });
  table.print(call.terminal);
  return ExitCode::ok;
}

ExitCode run_rename(Invocation& call) {
  auto remote = connect(call);
  auto changed = remote.call("PATCH", url_of(call.positional(0)), {}, Json{{"name", call.positional(1)}});
  call.print(changed, printable(call.positional(0)) + " is now " + printable(text_field(changed, "name")));
  return ExitCode::ok;
}

ExitCode run_quota(Invocation& call) {
  auto remote = connect(call);
  const auto& name = call.positional(0);
  auto workspace =
      call.arguments.positional.size() == 1
          ? remote.call("GET", url_of(name))
          : remote.call("PATCH", url_of(name), {}, Json{{"quota_bytes", parse_quota(call.positional(1))}});
  call.print(workspace, printable(text_field(workspace, "name")) + ": " +
                            human_size(number_field(workspace, "used_bytes")) + " of " +
                            human_size(number_field(workspace, "quota_bytes")) + " used");
  return ExitCode::ok;
}

ExitCode run_rm(Invocation& call) {
  auto remote = connect(call);
  for (const auto& name : call.arguments.positional) {
    http::Headers headers;
    write_conditions(call, remote, parse_remote_path(name + ":")).add_to(headers);
    remote.call("DELETE", url_of(name), {}, {}, headers);
    call.print({{"trashed", name}}, printable(name) + " is in the trash; 'sandkeep workspace restore " +
                                        printable(name) + "' restores it");
  }
  return ExitCode::ok;
}

ExitCode run_restore(Invocation& call) {
  auto remote = connect(call);
  for (const auto& name : call.arguments.positional) {
    auto workspace = remote.call("POST", url_of(name) + "/restore");
    call.print(workspace, printable(text_field(workspace, "name")) + " is back");
  }
  return ExitCode::ok;
}

// A trashed workspace by id or name. Administrators may also name the workspaces of others by id, which the
// list leaves out; then only the id is known.
struct TrashedWorkspace {
  std::string id, name;
};

TrashedWorkspace find_trashed_workspace(Remote& remote, const std::string& word) {
  std::vector<TrashedWorkspace> found;
  for_each_item(remote, kUrl, {{"trashed", "true"}}, [&](const Json& workspace) {
    TrashedWorkspace one{text_field(workspace, "id"), text_field(workspace, "name")};
    if (one.id == word || one.name == word) found.push_back(std::move(one));
  });
  if (found.size() > 1)
    throw Error(Code::conflict,
                std::to_string(found.size()) + " workspaces in the trash have the name " + word)
        .hint(
            "Name one by its id: 'sandkeep workspace ls --trashed' shows the ids and the times of removal.");
  if (found.empty() && !word.starts_with("ws_"))
    throw Error(Code::not_found, "there is no workspace " + word + " in the trash")
        .hint(
            "List them: 'sandkeep workspace ls --trashed'. A workspace is purged after 'sandkeep workspace "
            "rm'.");
  return found.empty() ? TrashedWorkspace{word, word} : found[0];
}

ExitCode purge_workspace(Invocation& call) {
  auto remote = connect(call);
  auto found = find_trashed_workspace(remote, call.positional(0));
  need_yes_or_name(call, "the workspace " + printable(found.name) + " with all its files and sessions",
                   found.name);
  print_purged(call, remote.call_patiently("DELETE", url_of(found.id), {{"purge", "true"}}));
  return ExitCode::ok;
}

ExitCode run_member(Invocation& call) {
  auto remote = connect(call);
  const auto& role = call.positional(2);
  if (role != "read" && role != "write" && role != "own" && role != "none")
    throw Error(Code::bad_request, "the role must be read, write, own or none, not '" + role + "'");
  auto principal = principal_id(remote, call.positional(1));
  auto url = url_of(call.positional(0)) + "/members/" + principal;
  if (role == "none") {
    remote.call("DELETE", url);
    call.print({{"principal_id", principal}, {"role", nullptr}}, printable(call.positional(1)) + " is out");
  } else {
    auto member = remote.call("PUT", url, {}, Json{{"role", role}});
    call.print(member, printable(call.positional(1)) + " may " + role);
  }
  return ExitCode::ok;
}

ExitCode run_revoke_links(Invocation& call) {
  auto remote = connect(call);
  remote.call("POST", url_of(call.positional(0)) + "/revoke-links");
  call.print({{"revoked", true}},
             "all signed links of " + printable(call.positional(0)) + " so far are revoked");
  return ExitCode::ok;
}

}  // namespace

std::vector<Command> workspace_commands() {
  return {
      {.name = "workspace create",
       .arguments = "NAME",
       .summary = "creates a workspace that you own",
       .about = "",
       .options = {{"quota", 0, "SIZE", "its quota, such as 5GiB; else the server's default"}},
       .positional_min = 1,
       .positional_max = 1,
       .examples = {"sandkeep workspace create team --quota 5GiB"},
       .run = run_create},
      {.name = "workspace ls",
       .arguments = "",
       .summary = "lists your workspaces",
       .about = "Shows name, id, owner, your role, and how much of the quota is used.",
       .options = {{"trashed", 0, "", "the trashed workspaces"},
                   {"all", 'a', "", "all workspaces of the server, with their usage; for administrators"}},
       .positional_max = 0,
       .examples = {"sandkeep workspace ls"},
       .run = list_workspaces},
      {.name = "workspace rename",
       .arguments = "WS NAME",
       .summary = "renames a workspace; its id stays",
       .about = "",
       .options = {},
       .positional_min = 2,
       .positional_max = 2,
       .examples = {"sandkeep workspace rename team crew"},
       .run = run_rename},
      {.name = "workspace quota",
       .arguments = "WS [SIZE]",
       .summary = "shows or sets a workspace's quota; only administrators may set it",
       .about = "It counts each distinct content of the workspace once, including versions and trash. "
                "Administrators name other owners' workspaces by id; 'workspace ls --all' shows the ids.",
       .options = {},
       .positional_min = 1,
       .positional_max = 2,
       .examples = {"sandkeep workspace quota team", "sandkeep workspace quota team 200GiB",
                    "sandkeep workspace quota ws_018f6b2c9d3e7a41b5c60d7e8f901234 200GiB"},
       .run = run_quota},
      {.name = "workspace member",
       .arguments = "WS PRINCIPAL read|write|own|none",
       .summary = "adds a member, changes its role, or removes it",
       .about = "Administrators can use a principal's name, others its id, which 'whoami' shows to it.",
       .options = {},
       .positional_min = 3,
       .positional_max = 3,
       .examples = {"sandkeep workspace member team ada write",
                    "sandkeep workspace member team p_018f6b2c9d3e7a41b5c60d7e8f901234 write"},
       .run = run_member},
      {.name = "workspace rm",
       .arguments = "WS…",
       .summary = "moves a workspace to the trash; its links keep working",
       .about = "A lock in the workspace prevents it.",
       .options = {kWriteOptions[0], kWriteOptions[2]},
       .positional_min = 1,
       .examples = {"sandkeep workspace rm team"},
       .run = run_rm},
      {.name = "workspace restore",
       .arguments = "WS…",
       .summary = "restores a workspace from the trash",
       .about = "",
       .options = {},
       .positional_min = 1,
       .examples = {"sandkeep workspace restore team"},
       .run = run_restore},
      {.name = "workspace purge",
       .arguments = "WS",
       .summary = "permanently deletes a trashed workspace, with everything in it",
       .about =
           "For its owner, and for administrators by its id. Its sessions end first. Links to its versions "
           "answer 410 from then on; the server's journal keeps that it existed and who purged it. On a "
           "terminal, it asks for the name again.",
       .options = {kYes},
       .positional_min = 1,
       .positional_max = 1,
       .examples = {"sandkeep workspace purge team", "sandkeep workspace purge team --yes"},
       .run = purge_workspace},
      {.name = "workspace revoke-links",
       .arguments = "WS",
       .summary = "revokes all signed links created so far",
       .about = "Permanent links for its members keep working.",
       .options = {},
       .positional_min = 1,
       .positional_max = 1,
       .examples = {"sandkeep workspace revoke-links team"},
       .run = run_revoke_links},
  };
}

}  // namespace sk::cli
