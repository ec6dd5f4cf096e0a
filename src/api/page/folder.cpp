// The page of a folder, and of the trash.
#include "api/page/page.h"
#include "base/path.h"
#include "base/text.h"

namespace sk::api::page {

namespace {

using http::Reply;

constexpr size_t kRowsPerPage = 200;

std::string form_path(std::string_view act, const workspace::Workspace& workspace, std::string_view path) {
  return "/page/" + std::string(act) + "/" + percent_encode(workspace.name) + "/" + percent_encode_path(path);
}

Markup entry_row(const workspace::Workspace& workspace, const workspace::Entry& entry) {
  bool folder = entry.kind == workspace::EntryKind::folder;
  Markup out;
  out << "<tr><td class=\"name\"><span class=\"icon\" aria-hidden=\"true\">";
  if (folder) {
    out << "&#128193;";
  } else {
    out << "&#128196;";
  }
  out << "</span><a href=\"" << esc(page_path(workspace, entry.path)) << "\">"
      << esc(split_path(entry.path).second);
  if (folder) out << "/";
  out << "</a>";
  if (entry.diverged) out << " <span class=\"badge\">diverged</span>";
  out << "</td><td class=\"number\">";
  if (!folder) out << size_of(entry.size);
  out << "</td><td class=\"when\">" << time_of(entry.changed_us) << "</td><td class=\"number wide\">";
  if (!folder) out << trusted(std::to_string(entry.version_count));
  out << "</td><td class=\"wide soft\">" << esc(entry.mime) << "</td></tr>";
  return out;
}

Markup upload_forms(const workspace::Workspace& workspace, const std::string& path,
                    const std::string& form_token) {
  Markup out;
  // The token must be the first field: the server checks it before it accepts the files that follow.
  out << "<div class=\"tools\"><form class=\"card\" method=\"post\" enctype=\"multipart/form-data\" action=\""
      << esc(form_path("upload", workspace, path)) << "\">" << token_field(form_token)
      << "<label for=\"files\">Upload files here</label><div class=\"row\"><input id=\"files\" "
         "name=\"files\" type=\"file\" multiple required><button>Upload</button></div><p class=\"soft\">An "
         "existing file gets a new version.</p></form><form class=\"card\" method=\"post\" action=\""
      << esc(form_path("mkdir", workspace, path)) << "\">" << token_field(form_token)
      << "<label for=\"name\">New folder</label><div class=\"row\"><input id=\"name\" name=\"name\" "
         "type=\"text\" maxlength=\"255\" "
         "required><button class=\"quiet\">Make</button></div></form></div>";
  return out;
}

Markup next_link(const std::string& here, const std::string& cursor) {
  Markup out;
  out << "<p class=\"acts-row\"><a class=\"button quiet\" href=\"" << esc(here)
      << "cursor=" << esc(percent_encode(cursor)) << "\">More</a></p>";
  return out;
}

Markup trash_row(const workspace::Workspace& workspace, const workspace::Entry& entry, const User& user) {
  Markup out;
  out << "<tr><td class=\"name\">" << esc(entry.path) << "</td><td class=\"number\">";
  if (entry.kind == workspace::EntryKind::file) out << size_of(entry.size);
  out << "</td><td class=\"when\">" << time_of(entry.trashed_us.value_or(0)) << "</td><td class=\"acts\">";
  if (workspace.role >= workspace::Right::write) {
    out << "<form method=\"post\" action=\"" << esc(form_path("restore", workspace, "")) << "\">"
        << token_field(user.form_token) << "<input type=\"hidden\" name=\"file\" value=\""
        << esc(entry.id.with_prefix(workspace::prefix::file))
        << "\"><button class=\"quiet small\">Restore</button></form>";
  }
  out << "</td></tr>";
  return out;
}

}  // namespace

Reply show_folder(Call& call, const User& user, const workspace::Authority& workspace,
                  const std::string& path) {
  auto page = call.app.keep.files().list(workspace, {.folder = path,
                                                     .recursive = false,
                                                     .glob = "",
                                                     .cursor = call.query.text("cursor").value_or(""),
                                                     .limit = kRowsPerPage});
  call.note("list", "/" + path);
  Markup out;
  auto name = path.empty() ? workspace.workspace().name : split_path(path).second;
  out << breadcrumbs(workspace.workspace(), path) << "<h1>" << esc(name) << "</h1>";
  if (path.empty()) out << "<p class=\"soft\">" << quota_meter(workspace.workspace()) << "</p>";
  out << "<div class=\"table\"><table><thead><tr><th scope=\"col\">Name</th><th scope=\"col\" "
         "class=\"number\">Size</th>"
         "<th scope=\"col\">Changed (UTC)</th><th scope=\"col\" class=\"number wide\">Versions</th>"
         "<th scope=\"col\" class=\"wide\">Type</th></tr></thead><tbody>";
  for (const auto& entry : page.items) out << entry_row(workspace.workspace(), entry);
  out << "</tbody></table>";
  if (page.items.empty()) out << "<p class=\"empty\">Nothing here yet.</p>";
  out << "</div>";
  if (page.has_more) out << next_link(page_path(workspace.workspace(), path) + "?", page.next_cursor);
  if (workspace.allows(workspace::Right::write))
    out << upload_forms(workspace.workspace(), path, user.form_token);
  out << "<p><a href=\"" << esc(page_path(workspace.workspace(), "")) << "?show=trash\">Trash</a></p>";
  return html_page(frame_for(user, name), out);
}

Reply show_trash(Call& call, const User& user, const workspace::Authority& workspace) {
  auto page = call.app.keep.files().trash(workspace, call.query.text("cursor").value_or(""), kRowsPerPage);
  call.note("list", "trash");
  Markup out;
  out << breadcrumbs(workspace.workspace(), "") << "<h1>Trash of " << esc(workspace.workspace().name)
      << "</h1><div class=\"table\"><table><thead><tr><th scope=\"col\">Was at</th><th scope=\"col\" "
         "class=\"number\">Size</th>"
         "<th scope=\"col\">Trashed (UTC)</th><th></th></tr></thead><tbody>";
  for (const auto& entry : page.items) out << trash_row(workspace.workspace(), entry, user);
  out << "</tbody></table>";
  if (page.items.empty()) out << "<p class=\"empty\">The trash is empty.</p>";
  out << "</div>";
  if (page.has_more)
    out << next_link(page_path(workspace.workspace(), "") + "?show=trash&", page.next_cursor);
  out << "<p><a href=\"" << esc(page_path(workspace.workspace(), "")) << "\">Back to the files</a></p>";
  return html_page(frame_for(user, "Trash"), out);
}

}  // namespace sk::api::page
