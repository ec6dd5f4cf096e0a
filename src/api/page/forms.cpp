// Actions of the page's buttons. Every form carries the session's token and redirects to a page.
#include "api/page/page.h"
#include "base/path.h"

namespace sk::api::page {

namespace {

using http::Reply;
using workspace::Right;
namespace prefix = workspace::prefix;

void check_form(Call& call) { need_form_user(call, call.form.text("token").value_or("")); }

Reply make_folder(Call& call) {
  check_form(call);
  auto workspace = call.open_workspace(Right::write);
  auto folder = call.path();
  workspace::MkdirChange change;
  change.path = clean_file_path(join_path(folder, call.form.text("name").value_or("")));
  call.app.keep.files().apply_one(workspace, std::move(change));
  return Reply::redirect(page_path(workspace.workspace(), folder));
}

Reply trash_entry(Call& call) {
  check_form(call);
  auto workspace = call.open_workspace(Right::write);
  auto path = call.file_path();
  call.app.keep.files().apply_one(workspace, workspace::TrashChange{.path = path, .conditions = {}});
  return Reply::redirect(page_path(workspace.workspace(), split_path(path).first));
}

Reply restore_version(Call& call) {
  check_form(call);
  auto workspace = call.open_workspace(Right::write);
  auto version = parse_id(call.form.text("version").value_or(""), prefix::version, "version");
  auto result = call.app.keep.files().apply_one(
      workspace, workspace::RestoreVersionChange{.version = version, .conditions = {}});
  return Reply::redirect(page_path(workspace.workspace(), result.entry.path));
}

Reply restore_entry(Call& call) {
  check_form(call);
  auto workspace = call.open_workspace(Right::write);
  auto file = parse_id(call.form.text("file").value_or(""), prefix::file, "file");
  auto entry = call.app.keep.files().restore(workspace, file, workspace::OnExisting::rename);
  return Reply::redirect(page_path(workspace.workspace(), split_path(entry.path).first));
}

void add_form(Routes& routes, const std::string& act, const std::string& about, Fields fields,
              CallHandler handler) {
  routes.add({.method = "POST",
              .pattern = "/page/" + act + "/{ws}/{path...}",
              .id = "page_form_" + act,
              .tag = "page",
              .summary = about,
              .auth = Auth::maybe,
              .body_kind = BodyKind::form,
              .body = Fields{{.name = "token", .about = "The form's token."}} + fields,
              .answers = {{303, "Done; redirects to the page.", "", "text/html"}},
              .hidden = true},
             as_page(std::move(handler)));
}

}  // namespace

void add_form_routes(Routes& routes) {
  add_form(routes, "mkdir", "Makes a folder", {{.name = "name", .about = "Its name."}}, make_folder);
  add_form(routes, "trash", "Moves a file or folder to the trash", {}, trash_entry);
  add_form(routes, "restore-version", "Makes an old version the newest",
           {{.name = "version", .about = "Its id."}}, restore_version);
  add_form(routes, "restore", "Restores a file or folder from the trash",
           {{.name = "file", .about = "Its id."}}, restore_entry);
}

}  // namespace sk::api::page
