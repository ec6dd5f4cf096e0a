// The trash: listing, restoring, purging.
#include "api/common/conditions.h"
#include "api/common/shapes.h"
#include "api/rest/changes.h"
#include "api/rest/rest.h"
#include "base/path.h"

namespace sk::api::rest {

namespace {

using http::Reply;
using workspace::Right;

Id file_of(const Call& call) { return parse_id(call.request.param("file"), workspace::prefix::file, "file"); }

Reply list_trash(Call& call) {
  auto workspace = call.open_workspace();
  auto page = call.app.keep.files().trash(workspace, call.query.text("cursor").value_or(""),
                                          call.limit(call.app.settings.list_page_max));
  call.note("list", "trash");
  return Reply::json(page_json(
      page, [&](const workspace::Entry& entry) { return entry_json(entry, call.request.base_url); }));
}

Reply restore_file(Call& call) {
  auto workspace = call.open_workspace(Right::write);
  std::optional<std::string> to = call.body.text("to");
  if (to) to = clean_file_path(*to);
  auto entry = call.app.keep.files().restore(workspace, file_of(call),
                                             parse_on_existing(call.body.text("on_existing")), std::move(to),
                                             conditions_from_body(call.request.headers, call.body));
  return Reply::json(entry_json(entry, call.request.base_url));
}

Reply purge_file(Call& call) {
  auto workspace = call.open_workspace(Right::own);
  return Reply::json(
      purge_json(call.app.keep.files().purge(workspace, file_of(call)), call.request.base_url));
}

Reply empty_trash(Call& call) {
  auto workspace = call.open_workspace(Right::own);
  return Reply::json(purge_json(call.app.keep.files().empty_trash(workspace), call.request.base_url));
}

}  // namespace

void add_trash_routes(Routes& routes) {
  routes.add({.method = "GET",
              .pattern = kWorkspace + "/trash",
              .id = "list_trash",
              .tag = "trash",
              .summary = "Lists the trash, newest first; a folder is one entry",
              .query = page_fields(),
              .answers = {{200, "Trashed entries.", "EntryPage"}},
              .errors = {Code::not_found}},
             list_trash);
  routes.add({.method = "POST",
              .pattern = kWorkspace + "/trash/{file}/restore",
              .id = "restore_file",
              .tag = "trash",
              .summary = "Restores a file or folder",
              .details = "`if_match` refers to the version in the trash, `if_none_match` to the target path.",
              .body_kind = BodyKind::json,
              .body = Fields{{.name = "to", .about = "The target path. Default: its old path."},
                             {.name = "on_existing",
                              .about = "If the target exists: `refuse` (default), `replace` or `rename`.",
                              .choices = {"refuse", "replace", "rename"}}} +
                      condition_fields(),
              .answers = {{200, "The entry.", "Entry"}},
              .errors = {Code::forbidden, Code::not_found, Code::conflict, Code::precondition_failed,
                         Code::locked, Code::quota_exceeded},
              .conditional_write = true},
             restore_file);
  routes.add({.method = "DELETE",
              .pattern = kWorkspace + "/trash/{file}",
              .id = "purge_file",
              .tag = "trash",
              .summary = "Permanently deletes a trashed file or folder; for the workspace's owner",
              .details = "Links to its versions answer 410 from now on; the answer names them.",
              .answers = {{200, "What was purged.", "PurgeResult"}},
              .errors = {Code::forbidden, Code::not_found}},
             purge_file);
  routes.add({.method = "DELETE",
              .pattern = kWorkspace + "/trash",
              .id = "empty_trash",
              .tag = "trash",
              .summary = "Permanently deletes everything in the trash; for the workspace's owner",
              .answers = {{200, "What was purged.", "PurgeResult"}},
              .errors = {Code::forbidden, Code::not_found}},
             empty_trash);
}

}  // namespace sk::api::rest
