// trash: lists, restores and permanently deletes removed entries.
#include "base/text.h"
#include "cli/client/fields.h"
#include "cli/client/versions.h"
#include "cli/commands/commands.h"
#include "cli/commands/moving.h"
#include "cli/commands/purging.h"
#include "cli/frame/columns.h"
#include "cli/frame/when.h"

namespace sk::cli {

namespace {

ExitCode list_trash(Invocation& call) {
  auto remote = connect(call);
  auto where = call.arguments.positional.empty() ? RemotePath{} : parse_remote_path(call.positional(0));
  if (!where.is_root()) throw Error(Code::bad_request, "'trash ls' lists a whole workspace: WS:");
  Table table({Align::left, Align::right, Align::left, Align::left});
  for_each_item(remote, remote.url(where, "trash"), {}, [&](const Json& entry) {
    if (call.json()) {
      call.terminal.line(to_text(entry));
      return;
    }
    bool is_folder = text_field(entry, "kind") == "folder";
    table.add({text_field(entry, "id"),
               is_folder ? "" : human_size(number_field(entry, "size")),
               {local_minute(text_field(entry, "trashed_at")), Style::dim},
               {printable(text_field(entry, "path")) + (is_folder ? "/" : ""),
                is_folder ? Style::blue : Style::plain}});
  });
  table.print(call.terminal);
  return ExitCode::ok;
}

// Returns the id of a trashed entry. A path may have been trashed more than once; then only an id is
// unambiguous.
std::string find_trashed(Remote& remote, const RemotePath& where, const std::string& word) {
  if (is_file_id(word)) return word;
  std::vector<std::string> ids;
  for_each_item(remote, remote.url(where, "trash"), {}, [&](const Json& entry) {
    if (text_field(entry, "path") == where.path) ids.push_back(text_field(entry, "id"));
  });
  if (ids.empty())
    throw Error(Code::not_found, where.path + " is not in the trash")
        .hint("List the trash: 'sandkeep trash ls'.");
  if (ids.size() > 1)
    throw Error(Code::conflict,
                std::to_string(ids.size()) + " entries in the trash had the path " + where.path)
        .hint("Name one by its id. 'sandkeep trash ls' shows the ids and the times of removal.");
  return ids[0];
}

std::string trash_url(Remote& remote, const RemotePath& where, const std::string& id) {
  return remote.url(where, "trash") + "/" + percent_encode(id);
}

ExitCode restore_trashed(Invocation& call) {
  auto remote = connect(call);
  for (const auto& word : call.arguments.positional) {
    auto where = is_file_id(word) ? RemotePath{} : parse_remote_path(word);
    Json body = {{"on_existing", on_existing(call.arguments)}};
    if (auto to = call.arguments.value("to")) {
      if (call.arguments.positional.size() > 1) throw Error(Code::bad_request, "--to is for a single entry");
      body["to"] = parse_remote_path(*to).path;
    }
    http::Headers headers;
    write_conditions(call, remote, where).add_to(headers);
    auto entry = remote.call("POST", trash_url(remote, where, find_trashed(remote, where, word)) + "/restore",
                             {}, body, headers);
    call.print(entry, printable(text_field(entry, "path")) + " is back");
  }
  return ExitCode::ok;
}

ExitCode purge_trashed(Invocation& call) {
  auto remote = connect(call);
  // Find all of them first: an unknown name must neither ask for --yes nor come after a purge.
  std::vector<std::string> urls;
  for (const auto& word : call.arguments.positional) {
    auto where = is_file_id(word) ? RemotePath{} : parse_remote_path(word);
    urls.push_back(trash_url(remote, where, find_trashed(remote, where, word)));
  }
  need_yes(call, counted(static_cast<int64_t>(urls.size()), "entry", "entries") +
                     " of the trash with all versions");
  for (const auto& url : urls) print_purged(call, remote.call("DELETE", url));
  return ExitCode::ok;
}

ExitCode empty_trash(Invocation& call) {
  auto where = call.arguments.positional.empty() ? RemotePath{} : parse_remote_path(call.positional(0));
  if (!where.is_root())
    throw Error(Code::bad_request, "'trash empty' empties the trash of a whole workspace: WS:");
  need_yes(call, "everything in the trash");
  auto remote = connect(call);
  print_purged(call, remote.call("DELETE", remote.url(where, "trash")));
  return ExitCode::ok;
}

}  // namespace

std::vector<Command> trash_commands() {
  auto restore_options = kOnExistingOptions;
  restore_options.insert(restore_options.begin(),
                         {"to", 0, "PATH", "restore to this path instead of the old one"});
  return {
      {.name = "trash ls",
       .arguments = "[WS:]",
       .summary = "lists removed files and folders",
       .about = "Shows id, size, time of removal (local) and old path.",
       .options = {},
       .positional_max = 1,
       .examples = {"sandkeep trash ls"},
       .run = list_trash},
      {.name = "trash restore",
       .arguments = "PATH|FILE_ID…",
       .summary = "restores files and folders to their old paths",
       .about = "",
       .options = with_write_options(restore_options),
       .positional_min = 1,
       .examples = {"sandkeep trash restore draft.md", "sandkeep trash restore draft.md --to old/draft.md"},
       .run = restore_trashed},
      {.name = "trash purge",
       .arguments = "PATH|FILE_ID…",
       .summary = "permanently deletes files and folders, with all versions",
       .about = "Shows the links that stop working; they answer 410 from then on.",
       .options = {kYes},
       .positional_min = 1,
       .examples = {"sandkeep trash purge draft.md --yes"},
       .run = purge_trashed},
      {.name = "trash empty",
       .arguments = "[WS:]",
       .summary = "permanently deletes everything in the trash",
       .about = "",
       .options = {kYes},
       .positional_max = 1,
       .examples = {"sandkeep trash empty --yes"},
       .run = empty_trash},
  };
}

}  // namespace sk::cli
