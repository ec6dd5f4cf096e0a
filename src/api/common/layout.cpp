#include "api/common/layout.h"

#include "base/hash.h"
#include "base/text.h"

namespace sk::api::page {

namespace {

constexpr std::string_view kPolicy =
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'";

Markup top_bar(const Frame& frame) {
  Markup out;
  out << "<header class=\"bar\"><a class=\"brand\" href=\"/\"><span aria-hidden=\"true\">&#127984;</span> "
         "Sandkeep</a>";
  if (!frame.user.empty()) {
    out << "<form class=\"who\" method=\"post\" action=\"/logout\">" << token_field(frame.form_token)
        << "<span>" << esc(frame.user) << "</span> <button class=\"quiet\">Sign out</button></form>";
  }
  out << "</header>";
  return out;
}

}  // namespace

http::Reply html_page(const Frame& frame, const Markup& content, int status) {
  Markup out;
  out << "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" "
         "content=\"no-referrer\">\n<title>"
      << esc(frame.title) << " · Sandkeep</title>\n<link rel=\"stylesheet\" href=\"" << esc(stylesheet_path())
      << "\">\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to content</a>\n"
      << top_bar(frame) << "\n<main id=\"main\">\n"
      << content << "\n</main>\n</body>\n</html>\n";
  auto reply = http::Reply::text(out.html(), "text/html; charset=utf-8", status);
  reply.headers.set("Content-Security-Policy", std::string(kPolicy));
  reply.headers.set("X-Content-Type-Options", "nosniff");
  reply.headers.set("Referrer-Policy", "no-referrer");
  reply.headers.set("Cache-Control", "no-store");
  return reply;
}

const std::string& stylesheet_path() {
  static const std::string path = "/page/style-" + sha256(stylesheet()).hex().substr(0, 16) + ".css";
  return path;
}

std::string page_path(const workspace::Workspace& workspace, std::string_view path) {
  return "/w/" + percent_encode(workspace.name) + "/" + percent_encode_path(path);
}

Markup time_of(TimeUs time_us) {
  auto iso = to_iso8601(time_us);
  auto shown = iso.substr(0, 10) + " " + iso.substr(11, 5);
  Markup out;
  out << "<time datetime=\"" << esc(iso) << "\" title=\"" << esc(iso) << "\">" << esc(shown) << "</time>";
  return out;
}

Markup size_of(uint64_t bytes) {
  Markup out;
  out << "<span title=\"" << trusted(std::to_string(bytes)) << " bytes\">" << esc(human_size(bytes))
      << "</span>";
  return out;
}

Markup token_field(const std::string& form_token) {
  Markup out;
  out << "<input type=\"hidden\" name=\"token\" value=\"" << esc(form_token) << "\">";
  return out;
}

Markup breadcrumbs(const workspace::Workspace& workspace, std::string_view path) {
  Markup out;
  out << "<nav class=\"crumbs\" aria-label=\"Path\"><ol><li><a href=\"/\">Workspaces</a></li>";
  std::string so_far;
  auto add = [&](std::string_view name, bool last) {
    out << "<li>";
    if (last) {
      out << "<span aria-current=\"page\">" << esc(name) << "</span>";
    } else {
      out << "<a href=\"" << esc(page_path(workspace, so_far)) << "\">" << esc(name) << "</a>";
    }
    out << "</li>";
  };
  add(workspace.name, path.empty());
  if (!path.empty()) {
    auto names = split(path, '/');
    for (size_t i = 0; i < names.size(); ++i) {
      so_far += (so_far.empty() ? "" : "/") + std::string(names[i]);
      add(names[i], i + 1 == names.size());
    }
  }
  out << "</ol></nav>";
  return out;
}

Markup quota_meter(const workspace::Workspace& workspace) {
  Markup out;
  if (workspace.quota_bytes == 0) return out << size_of(workspace.used_bytes) << " used";
  out << "<meter min=\"0\" max=\"" << trusted(std::to_string(workspace.quota_bytes)) << "\" high=\""
      << trusted(std::to_string(workspace.quota_bytes / 10 * 9)) << "\" value=\""
      << trusted(std::to_string(workspace.used_bytes)) << "\" aria-label=\"Quota used\"></meter> "
      << size_of(workspace.used_bytes) << " of " << size_of(workspace.quota_bytes);
  return out;
}

}  // namespace sk::api::page
