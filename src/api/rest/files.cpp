// One file at its path: reading, attributes, moving it to the trash.
#include "api/common/conditions.h"
#include "api/common/download.h"
#include "api/common/shapes.h"
#include "api/rest/changes.h"
#include "api/rest/rest.h"

namespace sk::api::rest {

namespace {

using http::Reply;
using workspace::Right;
namespace prefix = workspace::prefix;

workspace::Version wanted_version(Call& call, const workspace::Authority& workspace,
                                  const workspace::Entry& entry) {
  auto id = entry.head;
  if (auto text = call.query.text("version")) id = parse_id(*text, prefix::version, "version");
  auto version = call.app.keep.files().find_version(workspace, id);
  if (!version || version->file != entry.id) {
    throw Error(Code::not_found, "'" + entry.path + "' has no version " + id.with_prefix(prefix::version));
  }
  return *version;
}

Reply read_file(Call& call) {
  auto workspace = call.open_workspace();
  auto path = call.path();
  auto entry = call.app.keep.files().get(workspace, path);
  if (entry.kind == workspace::EntryKind::folder) {
    throw Error(Code::bad_request, "'" + path + "' is a folder")
        .advise(Advice::list_folder)
        .with("workspace", workspace.workspace().name)
        .with("path", path);
  }
  auto version = wanted_version(call, workspace, entry);
  call.note("read", "/" + path);
  // The content at a path can change, so caches must revalidate with the entity tag.
  auto reply = download(call.app, call.request, version,
                        {.attachment = call.query.flag("download"), .cache_control = "private, no-cache"});
  reply.headers.set("X-Sandkeep-Version", version.id.with_prefix(prefix::version));
  reply.headers.set("Vary", "Authorization, Cookie, X-API-Key");
  return reply;
}

Reply trash_file(Call& call) {
  auto workspace = call.open_workspace(Right::write);
  workspace::TrashChange change{.path = call.file_path(),
                                .conditions = conditions_from_headers(call.request.headers)};
  auto result = call.app.keep.files().apply_one(workspace, std::move(change));
  return Reply::json(entry_json(result.entry, call.request.base_url));
}

Reply set_attributes(Call& call) {
  auto workspace = call.open_workspace(Right::write);
  auto change =
      set_change(call.file_path(), call.body, conditions_from_body(call.request.headers, call.body));
  return change_reply(call, call.app.keep.files().apply_one(workspace, std::move(change)));
}

}  // namespace

void add_file_routes(Routes& routes) {
  const auto pattern = kWorkspace + "/files/{path...}";
  routes.add(
      {.method = "GET",
       .pattern = pattern,
       .id = "read_file",
       .tag = "files",
       .summary = "A file's bytes",
       .details = "Ranges, `If-None-Match`, `If-Modified-Since` and `If-Range` work; `HEAD` answers without "
                  "the bytes.",
       .query = {{.name = "version", .about = "An older version's id."},
                 {.name = "download",
                  .type = FieldType::boolean,
                  .about = "Whether the browser saves the file instead of showing it."}},
       .answers = {{200, "The bytes.", "", "*/*"},
                   {206, "A range of the bytes.", "", "*/*"},
                   {304, "Unchanged."}},
       .errors = {Code::not_found, Code::gone, Code::precondition_failed, Code::range_not_satisfiable}},
      read_file);
  routes.add(
      {.method = "DELETE",
       .pattern = pattern,
       .id = "trash_file",
       .tag = "files",
       .summary = "Moves a file, or a folder with its contents, to the trash",
       .answers = {{200, "The entry before the deletion.", "Entry"}},
       .errors = {Code::forbidden, Code::not_found, Code::precondition_failed, Code::too_large, Code::locked},
       .conditional_write = true},
      trash_file);
  routes.add({.method = "PATCH",
              .pattern = pattern,
              .id = "set_attributes",
              .tag = "files",
              .summary = "Sets a file's permissions or time of change",
              .body_kind = BodyKind::json,
              .body = set_fields() + condition_fields(),
              .answers = {{200, "Done.", "ChangeResult"}},
              .errors = {Code::forbidden, Code::not_found, Code::precondition_failed, Code::locked,
                         Code::quota_exceeded},
              .conditional_write = true},
             set_attributes);
}

}  // namespace sk::api::rest
