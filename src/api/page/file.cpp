// The page of a file: preview, properties, versions.
#include "api/page/page.h"
#include "base/path.h"
#include "base/text.h"
#include "workspace/content.h"
#include "workspace/links.h"

namespace sk::api::page {

namespace {

using http::Reply;

constexpr size_t kVersionsPerPage = 100;
constexpr uint64_t kPreviewBytesMax = 64 << 10;

bool is_picture(std::string_view mime) {
  // Browsers run no scripts in an <img>, not even from SVG.
  return mime.starts_with("image/") && mime != "image/tiff" && mime != "image/vnd.adobe.photoshop";
}

bool is_text(std::string_view mime) {
  mime = mime.substr(0, mime.find(';'));
  return mime.starts_with("text/") || mime == "application/json" || mime == "application/xml" ||
         mime == "application/javascript" || mime == "application/x-ndjson" || mime == "application/toml" ||
         mime == "application/yaml" || mime.ends_with("+json") || mime.ends_with("+xml");
}

// Reads the beginning of a file, without a character that is cut at the end.
std::string read_beginning(Call& call, const workspace::Entry& entry, uint64_t size) {
  auto text = workspace::ContentReader(call.app.keep.context(), entry.sha256, 0, size).read_all();
  bool cut = size < entry.size;
  for (int dropped = 0; cut && dropped < 4 && !is_utf8(text); ++dropped) text.pop_back();
  return text;
}

Markup text_preview(Call& call, const workspace::Entry& entry) {
  Markup out;
  auto shown = std::min(entry.size, kPreviewBytesMax);
  auto text = read_beginning(call, entry, shown);
  if (!is_utf8(text) || text.find('\0') != std::string::npos) return out;
  out << "<div class=\"preview\"><pre tabindex=\"0\" aria-label=\"Content\">" << esc(text) << "</pre></div>";
  if (entry.size > shown)
    out << "<p class=\"soft\">The first " << size_of(shown) << " of " << size_of(entry.size) << ".</p>";
  return out;
}

Markup preview(Call& call, const workspace::Entry& entry) {
  Markup out;
  if (entry.size == 0) return out << "<p class=\"card empty\">The file is empty.</p>";
  if (is_picture(entry.mime)) {
    out << "<div class=\"preview\"><img src=\"" << esc(workspace::Links::path_of(entry.head, entry.path))
        << "\" alt=\"" << esc(split_path(entry.path).second) << "\"></div>";
    return out;
  }
  return is_text(entry.mime) ? text_preview(call, entry) : out;
}

Markup facts(const workspace::Entry& entry) {
  Markup out;
  out << "<dl class=\"facts card\"><dt>Size</dt><dd>" << size_of(entry.size) << "</dd><dt>Type</dt><dd>"
      << esc(entry.mime) << "</dd><dt>Changed</dt><dd>" << time_of(entry.changed_us)
      << " UTC</dd><dt>Made</dt><dd>" << time_of(entry.created_us) << " UTC</dd><dt>SHA-256</dt><dd><code>"
      << esc(entry.sha256.hex()) << "</code></dd><dt>Version</dt><dd><code>"
      << esc(entry.head.with_prefix(workspace::prefix::version)) << "</code></dd></dl>";
  return out;
}

Markup form(std::string_view act, const workspace::Workspace& workspace, std::string_view path,
            const User& user, const Markup& inside) {
  Markup out;
  out << "<form method=\"post\" action=\"/page/" << esc(act) << "/" << esc(percent_encode(workspace.name))
      << "/" << esc(percent_encode_path(path)) << "\">" << token_field(user.form_token) << inside
      << "</form>";
  return out;
}

Markup version_row(const workspace::Workspace& workspace, const workspace::Version& version,
                   const User& user) {
  auto link = workspace::Links::path_of(version);
  Markup out;
  out << "<tr><td class=\"number\">" << trusted(std::to_string(version.number)) << "</td><td class=\"when\">"
      << time_of(version.created_us) << "</td><td>" << esc(version.author_name)
      << "</td><td class=\"number\">" << size_of(version.size) << "</td><td class=\"wide\">"
      << esc(version.source.kind);
  if (!version.complete) out << " <span class=\"badge\">incomplete</span>";
  out << "</td><td class=\"acts\"><a href=\"" << esc(link) << "\">Open</a> · <a href=\"" << esc(link)
      << "?download=1\">Download</a> ";
  if (version.is_head) {
    out << "<span class=\"badge\">current</span>";
  } else if (workspace.role >= workspace::Right::write) {
    Markup inside;
    inside << "<input type=\"hidden\" name=\"version\" value=\""
           << esc(version.id.with_prefix(workspace::prefix::version))
           << "\"><button class=\"quiet small\">Restore</button>";
    out << form("restore-version", workspace, version.path, user, inside);
  }
  out << "</td></tr>";
  return out;
}

Markup version_table(Call& call, const workspace::Authority& workspace, const workspace::Entry& entry,
                     const User& user) {
  auto page = call.app.keep.files().versions(workspace, entry.id, call.query.text("cursor").value_or(""),
                                             kVersionsPerPage);
  Markup out;
  out << "<h2>Versions</h2><div class=\"table\"><table><thead><tr><th scope=\"col\" "
         "class=\"number\">No.</th><th scope=\"col\">When "
         "(UTC)</th><th scope=\"col\">Who</th><th scope=\"col\" class=\"number\">Size</th><th scope=\"col\" "
         "class=\"wide\">From</th>"
         "<th></th></tr></thead><tbody>";
  for (const auto& version : page.items) out << version_row(workspace.workspace(), version, user);
  out << "</tbody></table></div>";
  if (page.has_more) {
    out << "<p class=\"acts-row\"><a class=\"button quiet\" href=\""
        << esc(page_path(workspace.workspace(), entry.path))
        << "?cursor=" << esc(percent_encode(page.next_cursor)) << "\">Older</a></p>";
  }
  return out;
}

}  // namespace

Reply show_file(Call& call, const User& user, const workspace::Authority& workspace,
                const workspace::Entry& entry) {
  call.note("read", "/" + entry.path);
  auto name = split_path(entry.path).second;
  auto link = workspace::Links::path_of(entry.head, entry.path);
  Markup out;
  out << breadcrumbs(workspace.workspace(), entry.path) << "<h1>" << esc(name) << "</h1>";
  if (entry.diverged) {
    out << "<p class=\"card message\">Two clients changed this file from the same base. Both versions are "
           "kept. The next write that names the current version as its base resolves this.</p>";
  }
  out << "<div class=\"acts-row\"><a class=\"button\" href=\"" << esc(link)
      << "?download=1\">Download</a><a class=\"button quiet\" href=\"" << esc(link) << "\">Open</a>";
  if (workspace.allows(workspace::Right::write)) {
    out << form("trash", workspace.workspace(), entry.path, user,
                Markup("<button class=\"bad\">Move to trash</button>"));
  }
  out << "</div>" << preview(call, entry) << facts(entry) << version_table(call, workspace, entry, user);
  return html_page(frame_for(user, name), out);
}

}  // namespace sk::api::page
