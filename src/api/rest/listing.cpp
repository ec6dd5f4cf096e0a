// Lists: single entries and folders.
#include "api/common/shapes.h"
#include "api/rest/rest.h"
#include "base/path.h"

namespace sk::api::rest {

namespace {

using http::Reply;

Reply get_entry(Call& call) {
  auto workspace = call.open_workspace();
  auto path = call.path();
  auto entry = call.app.keep.files().get(workspace, path);
  call.note("read", "/" + path);
  return Reply::json(entry_json(entry, call.request.base_url));
}

Reply list_entries(Call& call) {
  auto workspace = call.open_workspace();
  workspace::ListOptions options;
  options.folder = clean_path(call.query.text("folder").value_or(""));
  options.recursive = call.query.flag("recursive");
  options.glob = call.query.text("glob").value_or("");
  options.cursor = call.query.text("cursor").value_or("");
  options.limit = call.limit(call.app.settings.list_page_max);
  auto page = call.app.keep.files().list(workspace, options);
  call.note("list", "/" + options.folder);
  return Reply::json(page_json(
      page, [&](const workspace::Entry& entry) { return entry_json(entry, call.request.base_url); }));
}

}  // namespace

void add_listing_routes(Routes& routes) {
  routes.add({.method = "GET",
              .pattern = kWorkspace + "/entries/{path...}",
              .id = "get_entry",
              .tag = "files",
              .summary = "Returns the metadata of a file or folder",
              .answers = {{200, "The entry.", "Entry"}},
              .errors = {Code::not_found}},
             get_entry);
  routes.add(
      {.method = "GET",
       .pattern = kWorkspace + "/list",
       .id = "list_entries",
       .tag = "files",
       .summary = "Lists a folder",
       .query =
           Fields{
               {.name = "folder", .about = "The folder. Default: the root."},
               {.name = "recursive",
                .type = FieldType::boolean,
                .about = "Whether to include everything below it."},
               {.name = "glob",
                .about = "Only entries that match: `*` and `?` within a name, `**` across folders; a pattern "
                         "without `/` is compared with the name, any other with the path below `folder`."}} +
           page_fields(),
       .answers = {{200,
                    "Entries, sorted by folder, then by the bytes of their names. A folder's entries come "
                    "before those of its subfolders. With `glob`, a page may be empty although `has_more` is "
                    "true.",
                    "EntryPage"}},
       .errors = {Code::not_found}},
      list_entries);
}

}  // namespace sk::api::rest
