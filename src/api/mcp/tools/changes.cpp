// move_file, copy_file, delete_file and restore. Every change can be undone.
#include "api/common/fields.h"
#include "api/mcp/hub.h"
#include "base/path.h"
#include "base/text.h"
#include "workspace/links.h"

namespace sk::api::mcp {

namespace {

using workspace::OnExisting;
using workspace::Right;
namespace prefix = workspace::prefix;

OnExisting on_existing(const ToolCall& call) {
  auto text = call.text("on_existing").value_or("refuse");
  return text == "replace" ? OnExisting::replace : text == "rename" ? OnExisting::rename : OnExisting::refuse;
}

ToolResult told(const ToolCall& call, const workspace::Entry& entry, std::string_view what) {
  ToolResult result;
  result.text.append(as_code(entry.path)).append(" ").append(what).append("\n");
  result.structured = {{"path", entry.path}, {"id", entry.id.with_prefix(prefix::file)}};
  if (entry.head) {
    result.structured["version_id"] = entry.head.with_prefix(prefix::version);
    result.structured["link"] = call.base_url() + workspace::Links::path_of(entry.head, entry.path);
    result.blocks.push_back(link_block(entry.head, entry.path, entry.mime, entry.size, call.base_url()));
  }
  return result;
}

std::optional<ToolResult> move_file(ToolCall& call) {
  auto workspace = call.open_workspace(Right::write);
  workspace::MoveChange change{.from = call.file_path("from"),
                               .to = call.file_path("to"),
                               .on_existing = on_existing(call),
                               .conditions = call.conditions()};
  auto result = call.app().keep.files().apply_one(workspace, std::move(change));
  return told(call, result.entry, "is the new path; id, versions and links stay");
}

std::optional<ToolResult> copy_file(ToolCall& call) {
  auto workspace = call.open_workspace(Right::write);
  workspace::CopyChange change;
  change.from = call.file_path("from");
  change.to = call.file_path("to");
  change.on_existing = on_existing(call);
  change.conditions = call.conditions();
  if (auto version = call.text("version"))
    change.from_version = parse_id(*version, prefix::version, "version");
  if (auto name = call.text("from_workspace"))
    change.from_workspace = call.app().keep.workspaces().open(call.actor(), *name).workspace_id();
  auto result = call.app().keep.files().apply_one(workspace, std::move(change));
  return told(call, result.entry, "is the copy");
}

std::optional<ToolResult> delete_file(ToolCall& call) {
  auto workspace = call.open_workspace(Right::write);
  auto path = call.file_path("path");
  if (!call.flag("confirm")) {
    auto entry = call.app().keep.files().get(workspace, path);
    return failed(
        "confirm",
        "nothing was deleted: " + as_code(entry.path) + " is a " +
            (entry.kind == workspace::EntryKind::file ? "file" : "folder with all that is below it"),
        "Call again with confirm: true. It is moved to the trash, its links keep working, and restore can "
        "bring it back.");
  }
  workspace::TrashChange change{.path = path, .conditions = call.conditions()};
  auto result = call.app().keep.files().apply_one(workspace, std::move(change));
  auto out = told(call, result.entry, "is in the trash; restore with this path brings it back");
  out.blocks.clear();
  return out;
}

// Returns the id of the newest entry of that path in the trash.
Id trashed_id(ToolCall& call, const workspace::Authority& workspace, const std::string& path) {
  for (std::string cursor;;) {
    auto page = call.app().keep.files().trash(workspace, cursor, 500);
    for (const auto& entry : page.items)
      if (entry.path == path) return entry.id;
    if (!page.has_more) break;
    cursor = page.next_cursor;
  }
  throw Error(Code::not_found, "'" + path + "' is not in the trash")
      .hint("Use list_files with trash: true to see the trash.");
}

std::optional<ToolResult> restore(ToolCall& call) {
  auto workspace = call.open_workspace(Right::write);
  auto& files = call.app().keep.files();
  if (call.has("version") == call.has("path"))
    throw Error(Code::bad_request,
                "give 'version' (to make old bytes the newest) or 'path' (of something deleted)");
  if (auto version = call.text("version")) {
    workspace::RestoreVersionChange change{.version = parse_id(*version, prefix::version, "version"),
                                           .conditions = call.conditions()};
    auto result = files.apply_one(workspace, std::move(change));
    auto out = told(call, result.entry, "has the old bytes again, as a new version");
    if (result.version) out.structured["number"] = result.version->number;
    return out;
  }
  auto id = trashed_id(call, workspace, call.file_path("path"));
  auto entry = files.restore(workspace, id, OnExisting::rename, {}, call.conditions());
  return told(call, entry, "is back");
}

Json place_schema() {
  return {{"path", field::any("string")},
          {"id", field::any("string")},
          {"version_id", field::any("string")},
          {"link", field::any("string")}};
}

Json existing_field() {
  return field::choice("What to do if `to` exists. Default: refuse.", {"refuse", "replace", "rename"});
}

}  // namespace

Tools change_tools() {
  return {
      {.name = "move_file",
       .title = "Move or rename",
       .about = "Moves or renames a file, or a folder with its contents.",
       .input = {{"from", field::text("Path.")},
                 {"to", field::text("Its new path.")},
                 {"on_existing", existing_field()},
                 {"lock_token", field::text("The token of your lock.")},
                 {"workspace", field::workspace()}},
       .required = {"from", "to"},
       .output = place_schema(),
       .destroys = true,
       .run = move_file},
      {.name = "copy_file",
       .title = "Copy",
       .about = "Copies a file (any version, from any workspace) or a folder. A copy takes no space.",
       .input = {{"from", field::text("Path.")},
                 {"to", field::text("The copy's path.")},
                 {"version", field::text("An old version of `from`.")},
                 {"from_workspace", field::text("The workspace of `from`, if it is another one.")},
                 {"on_existing", existing_field()},
                 {"lock_token", field::text("The token of your lock.")},
                 {"workspace", field::workspace()}},
       .required = {"from", "to"},
       .output = place_schema(),
       .destroys = true,
       .run = copy_file},
      {.name = "delete_file",
       .title = "Delete",
       .about = "Moves a file or folder to the trash. Needs confirm.",
       .input = {{"path", field::text("What.")},
                 {"confirm", field::flag("Must be true to delete.")},
                 {"if_version", field::text("Only if this is still the current version.")},
                 {"lock_token", field::text("The token of your lock.")},
                 {"workspace", field::workspace()}},
       .required = {"path"},
       .output = place_schema(),
       .destroys = true,
       .run = delete_file},
      {.name = "restore",
       .title = "Restore",
       .about = "Makes an old version the newest one, or restores a deleted file or folder.",
       .input = {{"version", field::text("A version id from the tool versions.")},
                 {"path", field::text("The path of an entry in the trash.")},
                 {"lock_token", field::text("The token of your lock.")},
                 {"workspace", field::workspace()}},
       .output = place_schema(),
       .run = restore},
  };
}

}  // namespace sk::api::mcp
