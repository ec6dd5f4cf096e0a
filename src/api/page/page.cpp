#include "api/page/page.h"

#include "api/common/advice_words.h"
#include "base/path.h"
#include "base/text.h"
#include "http/server.h"

namespace sk::api::page {

using http::Reply;

User need_user(Call& call) {
  if (!call.credential || !call.credential->from_cookie)
    throw Error(Code::unauthorized, "you are not signed in");
  call.act_as(authenticate_key(call.app, call.request, call.credential->secret));
  return {.actor = call.actor, .form_token = call.credential->form_token};
}

User need_form_user(Call& call, const std::string& token) {
  auto user = need_user(call);
  if (!equal_constant_time(token, user.form_token)) {
    throw Error(Code::forbidden, "this form does not come from the page, or comes from an earlier sign-in")
        .hint("Go back, reload, and try again.");
  }
  return user;
}

Frame frame_for(const User& user, std::string title) {
  return {.title = std::move(title), .user = user.actor.name(), .form_token = user.form_token};
}

Reply error_page(const Call& call, const Error& error) {
  Markup out;
  out << "<div class=\"card message bad\" role=\"alert\"><h1>" << esc(error.message()) << "</h1><p>"
      << esc(hint_for(Audience::page, error)) << "</p><p class=\"soft\">" << esc(info(error.code()).name)
      << " · request " << esc(call.request.request_id)
      << "</p></div><p><a href=\"/\">To the workspaces</a></p>";
  Frame frame{.title = "Not possible",
              .user = call.actor.name(),
              .form_token = call.credential ? call.credential->form_token : ""};
  auto reply = html_page(frame, out, error.http_status());
  http::set_retry_after(error, reply.headers);
  return reply;
}

CallHandler as_page(CallHandler handler) {
  return [handler = std::move(handler)](Call& call) {
    try {
      return handler(call);
    } catch (const Error& error) {
      call.note_denied(error);
      if (error.code() != Code::unauthorized) return error_page(call, error);
      bool comes_back = call.request.method == "GET" && call.request.path.starts_with("/w/");
      return Reply::redirect(comes_back ? "/?next=" + percent_encode(call.request.path) : "/");
    }
  };
}

namespace {

Reply show_path(Call& call) {
  auto user = need_user(call);
  auto workspace = call.open_workspace_with_figures();
  auto path = call.path();
  if (call.query.text("show").value_or("") == "trash") return show_trash(call, user, workspace);
  auto entry = call.app.keep.files().get(workspace, path);
  if (entry.kind == workspace::EntryKind::folder) return show_folder(call, user, workspace, path);
  return show_file(call, user, workspace, entry);
}

Reply show_style(Call& call) {
  auto reply = Reply::text(std::string(stylesheet()), "text/css; charset=utf-8");
  bool current = "/page/" + call.request.param("name") == stylesheet_path();
  reply.headers.set("Cache-Control", current ? "public, max-age=31536000, immutable" : "no-cache");
  reply.headers.set("X-Content-Type-Options", "nosniff");
  return reply;
}

}  // namespace

void add_routes(Routes& routes) {
  add_sign_in_routes(routes);
  add_form_routes(routes);
  add_upload_form_route(routes);
  routes.add({.method = "GET",
              .pattern = "/w/{ws}/{path...}",
              .id = "page_path",
              .tag = "page",
              .summary = "A folder or file, for people",
              .auth = Auth::maybe,
              .query = Fields{{.name = "show", .about = "`trash`.", .choices = {"trash"}},
                              {.name = "done", .about = "The result of the last form."}} +
                       page_fields(),
              .answers = {{200, "A page.", "", "text/html"}},
              .hidden = true},
             as_page(show_path));
  routes.add({.method = "GET",
              .pattern = "/page/{name}",
              .id = "page_style",
              .tag = "page",
              .summary = "The page's stylesheet",
              .auth = Auth::nobody,
              .answers = {{200, "CSS.", "", "text/css"}},
              .hidden = true},
             show_style);
}

}  // namespace sk::api::page
