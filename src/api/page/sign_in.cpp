// Signing in and out, and the list of workspaces, which is the start page.
#include "api/common/shapes.h"
#include "api/page/page.h"
#include "base/text.h"
#include "http/server.h"

namespace sk::api::page {

namespace {

using http::Reply;

// Only allows Sandkeep's own pages: "//elsewhere.example" and "https:…" lead to other sites.
std::string safe_next(const std::string& next) {
  bool ours = (next.starts_with("/w/") || next.starts_with("/k/")) &&
              next.find_first_of("\\\r\n") == std::string::npos;
  return ours ? next : "/";
}

std::string cookie(const http::Request& request, const std::string& value, int64_t life_s) {
  std::string out(kSessionCookie);
  out.append("=").append(value);  // with '+', g++ 12 gives a false warning about bounds
  out.append("; Path=/; HttpOnly; SameSite=Strict; Max-Age=").append(std::to_string(life_s));
  return request.base_url.starts_with("https:") ? out + "; Secure" : out;
}

Reply sign_in_page(const std::string& next, std::string_view problem, int status) {
  Markup out;
  out << "<div class=\"sign-in\"><h1>Sign in</h1>";
  if (!problem.empty()) out << "<p class=\"card message bad\" role=\"alert\">" << esc(problem) << "</p>";
  out << "<form class=\"card\" method=\"post\" action=\"/login\"><label for=\"key\">Your key</label>"
         "<input id=\"key\" name=\"key\" type=\"password\" autocomplete=\"current-password\" required "
         "autofocus>"
         "<input type=\"hidden\" name=\"next\" value=\""
      << esc(next)
      << "\"><button>Sign in</button></form><p class=\"soft\">The server printed the first key when it was "
         "started. <code>sandkeep key create</code> creates more.</p></div>";
  return html_page({.title = "Sign in", .user = "", .form_token = ""}, out, status);
}

Markup workspace_card(const workspace::Workspace& workspace) {
  Markup out;
  out << "<li class=\"card\"><h2><a href=\"" << esc(page_path(workspace, "")) << "\">" << esc(workspace.name)
      << "</a></h2><p class=\"soft\">of " << esc(workspace.owner_name)
      << " · your role: " << esc(role_name(workspace.role)) << "</p><p class=\"soft\">since "
      << time_of(workspace.created_us) << "</p><p>" << quota_meter(workspace) << "</p></li>";
  return out;
}

Reply refused_sign_in(const std::string& next, const Error& error) {
  auto reply = sign_in_page(next, error.message(), error.http_status());
  http::set_retry_after(error, reply.headers);
  return reply;
}

Reply show_start(Call& call) {
  auto next = safe_next(call.query.text("next").value_or("/"));
  if (!call.credential || !call.credential->from_cookie) return sign_in_page(next, "", 200);
  User user;
  try {
    user = need_user(call);
  } catch (const Error& error) {
    // The key was revoked or has expired since sign-in, or sends too many requests.
    return refused_sign_in(next, error);
  }
  auto workspaces = call.app.keep.workspaces().list(user.actor);
  call.note("list", "workspaces");
  Markup out;
  out << "<h1>Workspaces</h1>";
  if (workspaces.empty()) out << "<p class=\"card empty\">This key opens no workspace.</p>";
  out << "<ul class=\"cards\">";
  for (const auto& workspace : workspaces) out << workspace_card(workspace);
  out << "</ul>";
  return html_page(frame_for(user, "Workspaces"), out);
}

// Rejects forms from other sites, by Sec-Fetch-Site. Another site could otherwise sign a visitor in with its
// own key, to see what they upload.
void refuse_foreign_form(const http::Request& request) {
  auto site = request.headers.get("Sec-Fetch-Site");
  if (site && *site != "same-origin" && *site != "none")
    throw Error(Code::forbidden, "this form came from another site");
}

Reply sign_in(Call& call) {
  refuse_foreign_form(call.request);
  auto next = safe_next(call.form.text("next").value_or("/"));
  std::string secret(trim(call.form.text("key").value_or("")));
  try {
    call.act_as(authenticate_key(call.app, call.request, secret));
  } catch (const Error& error) {
    call.note_denied(error);
    return refused_sign_in(next, error);
  }
  auto reply = Reply::redirect(next);
  reply.headers.set(
      "Set-Cookie",
      cookie(call.request, call.app.sign_ins.start(call.actor.principal(), std::move(secret)), 7 * 86'400));
  reply.headers.set("Cache-Control", "no-store");
  return reply;
}

Reply sign_out(Call& call) {
  auto token = find_cookie(call.request, kSessionCookie);
  if (call.credential && call.credential->from_cookie)
    need_form_user(call, call.form.text("token").value_or(""));
  if (token) call.app.sign_ins.end(*token);
  auto reply = Reply::redirect("/");
  reply.headers.set("Set-Cookie", cookie(call.request, "", 0));
  return reply;
}

}  // namespace

void add_sign_in_routes(Routes& routes) {
  routes.add({.method = "GET",
              .pattern = "/",
              .id = "page_start",
              .tag = "page",
              .summary = "Shows the sign-in form or the workspaces",
              .auth = Auth::maybe,
              .query = {{.name = "next", .about = "The page to show after signing in."}},
              .answers = {{200, "A page.", "", "text/html"}},
              .hidden = true},
             as_page(show_start));
  routes.add({.method = "POST",
              .pattern = "/login",
              .id = "page_sign_in",
              .tag = "page",
              .summary = "Signs in with a key",
              .auth = Auth::nobody,
              .body_kind = BodyKind::form,
              .body = {{.name = "key", .about = "The key."},
                       {.name = "next", .about = "The page to show after signing in."}},
              .answers = {{303, "Signed in.", "", "text/html"}},
              .hidden = true},
             as_page(sign_in));
  routes.add({.method = "POST",
              .pattern = "/logout",
              .id = "page_sign_out",
              .tag = "page",
              .summary = "Signs out",
              .auth = Auth::maybe,
              .body_kind = BodyKind::form,
              .body = {{.name = "token", .about = "The form's token."}},
              .answers = {{303, "Signed out.", "", "text/html"}},
              .hidden = true},
             as_page(sign_out));
}

}  // namespace sk::api::page
