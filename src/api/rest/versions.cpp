// The history of a file.
#include "api/common/conditions.h"
#include "api/common/shapes.h"
#include "api/rest/rest.h"

namespace sk::api::rest {

namespace {

using http::Reply;
using workspace::Right;
namespace prefix = workspace::prefix;

// Finds a file by its path, or by its id, which also finds it in the trash.
workspace::Entry find_file(Call& call, const workspace::Authority& workspace) {
  auto& files = call.app.keep.files();
  auto id = call.query.text("file_id");
  auto path = call.path();
  if (!id) {
    if (path.empty()) throw Error(Code::bad_request, "pass a file's path or 'file_id'");
    return files.get(workspace, path);
  }
  if (!path.empty()) throw Error(Code::bad_request, "pass a file's path or 'file_id', not both");
  auto found = files.find_by_id(workspace, parse_id(*id, prefix::file, "file_id"));
  if (!found) throw Error(Code::not_found, "this workspace has no file " + *id);
  return *found;
}

Reply list_versions(Call& call) {
  auto workspace = call.open_workspace();
  auto entry = find_file(call, workspace);
  if (entry.kind == workspace::EntryKind::folder) throw Error(Code::bad_request, "a folder has no versions");
  auto page = call.app.keep.files().versions(workspace, entry.id, call.query.text("cursor").value_or(""),
                                             call.limit(call.app.settings.list_page_max));
  call.note("list", "versions of /" + entry.path);
  return Reply::json(page_json(
      page, [&](const workspace::Version& version) { return version_json(version, call.request.base_url); }));
}

Id version_of(const Call& call) {
  return parse_id(call.request.param("version"), prefix::version, "version");
}

Reply get_version(Call& call) {
  auto workspace = call.open_workspace();
  auto id = version_of(call);
  auto version = call.app.keep.files().find_version(workspace, id);
  if (!version)
    throw Error(Code::not_found, "this workspace has no version " + id.with_prefix(prefix::version));
  auto out = version_json(*version, call.request.base_url);
  out["signed_link"] = call.request.base_url + call.app.keep.links().signed_path_of(workspace, *version);
  call.note("read", id.with_prefix(prefix::version));
  return Reply::json(out);
}

Reply purge_version(Call& call) {
  auto workspace = call.open_workspace(Right::own);
  auto result = call.app.keep.files().purge_version(workspace, version_of(call),
                                                    lock_tokens_from_headers(call.request.headers));
  return Reply::json(purge_json(result, call.request.base_url));
}

}  // namespace

void add_version_routes(Routes& routes) {
  routes.add(
      {.method = "GET",
       .pattern = kWorkspace + "/versions/{path...}",
       .id = "list_versions",
       .tag = "versions",
       .summary = "Lists a file's versions, newest first",
       .details = "For a file in the trash, leave the path empty and pass `file_id`.",
       .query = Fields{{.name = "file_id", .about = "The file's id, instead of a path."}} + page_fields(),
       .answers = {{200, "The versions.", "VersionPage"}},
       .errors = {Code::not_found}},
      list_versions);
  routes.add({.method = "GET",
              .pattern = kWorkspace + "/version/{version}",
              .id = "get_version",
              .tag = "versions",
              .summary = "Returns one version, with a signed link that opens it without a key",
              .answers = {{200, "The version.", "Version"}},
              .errors = {Code::not_found, Code::gone}},
             get_version);
  routes.add(
      {.method = "DELETE",
       .pattern = kWorkspace + "/version/{version}",
       .id = "purge_version",
       .tag = "versions",
       .summary = "Permanently deletes one old version; for the workspace's owner",
       .details = "The current version cannot be purged. Links to a purged version answer 410.",
       .answers = {{200, "What was purged.", "PurgeResult"}},
       .errors = {Code::forbidden, Code::not_found, Code::conflict, Code::precondition_failed, Code::locked},
       .opens_locks = true},
      purge_version);
}

}  // namespace sk::api::rest
