// mkdir, move, copy, restore.
#include "api/rest/changes.h"

#include "api/common/conditions.h"
#include "api/common/download.h"
#include "api/common/shapes.h"
#include "api/rest/rest.h"
#include "base/path.h"

namespace sk::api::rest {

using http::Reply;
using workspace::OnExisting;
using workspace::Right;
namespace prefix = workspace::prefix;

namespace {

Field on_existing_field() {
  return {.name = "on_existing",
          .about =
              "If the target exists: `refuse` (default), `replace` it (it is moved to the trash; a file "
              "copied onto a file becomes its new version), or `rename` to \"name (2)\".",
          .choices = {"refuse", "replace", "rename"}};
}

// Returns a required path of a body. Error(bad_request) when it is missing or not valid.
std::string path_field(const Body& body, std::string_view name) {
  return clean_file_path(body.need_text(name));
}

Reply apply(Call& call, const workspace::Authority& workspace, workspace::Change change) {
  return change_reply(call, call.app.keep.files().apply_one(workspace, std::move(change)));
}

Reply make_folder(Call& call) {
  auto workspace = call.open_workspace(Right::write);
  return apply(call, workspace,
               mkdir_change(call.body, conditions_from_body(call.request.headers, call.body)));
}

Reply move(Call& call) {
  auto workspace = call.open_workspace(Right::write);
  return apply(call, workspace,
               move_change(call.body, conditions_from_body(call.request.headers, call.body)));
}

Reply copy(Call& call) {
  auto change = copy_change(call, call.body, conditions_from_body(call.request.headers, call.body));
  auto workspace = call.open_workspace(Right::write);
  return apply(call, workspace, std::move(change));
}

Reply restore_version(Call& call) {
  auto workspace = call.open_workspace(Right::write);
  return apply(call, workspace,
               restore_version_change(call.body, conditions_from_body(call.request.headers, call.body)));
}

Reply restore_as_of(Call& call) {
  auto workspace = call.open_workspace(Right::write);
  auto folder = clean_path(call.body.text("folder").value_or(""));
  auto result = call.app.keep.files().restore_as_of(workspace, folder, *call.body.time("time"),
                                                    call.body.boolean("dry_run").value_or(false),
                                                    lock_tokens_from_body(call.request.headers, call.body));
  return Reply::json({{"restored", result.restored},
                      {"trashed", result.trashed},
                      {"unchanged", result.unchanged},
                      {"purged", result.purged},
                      {"dry_run", result.dry_run}});
}

Operation change_operation(std::string name, std::string id, std::string summary, Fields body) {
  return {
      .method = "POST",
      .pattern = kWorkspace + "/" + name,
      .id = std::move(id),
      .tag = "files",
      .summary = std::move(summary),
      .body_kind = BodyKind::json,
      .body = std::move(body) + condition_fields(),
      .answers = {{200, "Done.", "ChangeResult"}, {201, "Done; a new entry was created.", "ChangeResult"}},
      .errors = {Code::forbidden, Code::not_found, Code::conflict, Code::precondition_failed, Code::locked,
                 Code::quota_exceeded},
      .conditional_write = true};
}

}  // namespace

Fields mkdir_fields() {
  return {{.name = "path", .about = "The path. Missing folders above it are created too.", .required = true},
          {.name = "mode", .about = "Its permissions in octal. Default: 0755."}};
}

Fields move_fields() {
  return {
      {.name = "from", .about = "The path of a file, or of a folder with its contents.", .required = true},
      {.name = "to", .about = "Its new path.", .required = true},
      on_existing_field()};
}

Fields copy_fields() {
  return move_fields() +
         Fields{{.name = "from_version", .about = "An older version of the file, by its id."},
                {.name = "from_workspace",
                 .about = "The id or name of the workspace of `from`, if it is another one."}};
}

Fields restore_version_fields() {
  return {{.name = "version_id",
           .about = "The version whose bytes become the file's newest version.",
           .required = true}};
}

Fields set_fields() {
  return {{.name = "mode", .about = "Permissions in octal."},
          {.name = "mtime",
           .type = FieldType::time,
           .about = "Time of the last change of its content, as programs see it."}};
}

OnExisting parse_on_existing(const std::optional<std::string>& text) {
  if (!text || *text == "refuse") return OnExisting::refuse;
  return *text == "replace" ? OnExisting::replace : OnExisting::rename;
}

workspace::MkdirChange mkdir_change(const Body& body, workspace::Conditions conditions) {
  workspace::MkdirChange change;
  change.path = path_field(body, "path");
  if (auto mode = body.text("mode")) change.mode = parse_mode(*mode, body.label("mode"));
  change.conditions = std::move(conditions);
  return change;
}

workspace::MoveChange move_change(const Body& body, workspace::Conditions conditions) {
  return {.from = path_field(body, "from"),
          .to = path_field(body, "to"),
          .on_existing = parse_on_existing(body.text("on_existing")),
          .conditions = std::move(conditions)};
}

workspace::CopyChange copy_change(Call& call, const Body& body, workspace::Conditions conditions) {
  workspace::CopyChange change;
  change.from = path_field(body, "from");
  change.to = path_field(body, "to");
  change.on_existing = parse_on_existing(body.text("on_existing"));
  if (auto text = body.text("from_version"))
    change.from_version = parse_id(*text, prefix::version, body.label("from_version"));
  if (auto name = body.text("from_workspace"))
    change.from_workspace = call.open_workspace(*name, Right::read).workspace_id();
  change.conditions = std::move(conditions);
  return change;
}

workspace::RestoreVersionChange restore_version_change(const Body& body, workspace::Conditions conditions) {
  return {.version = parse_id(body.need_text("version_id"), prefix::version, body.label("version_id")),
          .conditions = std::move(conditions)};
}

workspace::SetModeChange set_change(std::string path, const Body& body, workspace::Conditions conditions) {
  workspace::SetModeChange change;
  change.path = std::move(path);
  if (auto mode = body.text("mode")) change.mode = parse_mode(*mode, body.label("mode"));
  change.mtime_us = body.time("mtime");
  if (!change.mode && !change.mtime_us) throw Error(Code::bad_request, "give 'mode' or 'mtime'");
  change.conditions = std::move(conditions);
  return change;
}

Reply change_reply(const Call& call, const workspace::ChangeResult& result) {
  auto reply = Reply::json(change_json(result, call.request.base_url), result.created ? 201 : 200);
  if (result.entry.head) reply.headers.set("ETag", etag_of(result.entry.head));
  return reply;
}

void add_change_routes(Routes& routes) {
  routes.add(change_operation("mkdir", "make_folder", "Creates a folder; an existing folder is no error",
                              mkdir_fields()),
             make_folder);
  routes.add(
      change_operation("move", "move", "Moves or renames; ids, versions and links stay", move_fields()),
      move);
  routes.add(
      change_operation("copy", "copy", "Copies a file or a folder; no bytes are copied", copy_fields()),
      copy);
  routes.add(
      change_operation("restore-version", "restore_version",
                       "Makes an old version the newest one, as a new version", restore_version_fields()),
      restore_version);
  routes.add(
      {.method = "POST",
       .pattern = kWorkspace + "/restore-as-of",
       .id = "restore_as_of",
       .tag = "files",
       .summary = "Restores a folder, or the whole workspace, to its state at a time, in one transaction",
       .details = "Restores paths, contents, modes, times and types, of folders too. Entries created later "
                  "are moved to the trash. Entries that were moved out of the folder are moved back. Nothing "
                  "is lost. `purged` counts files whose content of that time was purged: they keep their "
                  "current content. 404 when the folder did not exist at that time. Locks in the folder, and "
                  "on paths from which entries are moved back, prevent it.",
       .body_kind = BodyKind::json,
       .body =
           Fields{
               {.name = "time", .type = FieldType::time, .about = "The time to restore.", .required = true},
               {.name = "folder", .about = "Only this folder or file. Default: the whole workspace."},
               {.name = "dry_run", .type = FieldType::boolean, .about = "Only count the changes."}} +
           lock_fields(),
       .answers = {{200, "The changes that were made, or would be made.", "RestoreResult"}},
       .errors = {Code::forbidden, Code::not_found, Code::precondition_failed, Code::locked,
                  Code::quota_exceeded},
       .opens_locks = true},
      restore_as_of);
}

}  // namespace sk::api::rest
