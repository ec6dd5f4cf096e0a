#include "api/links/links.h"

#include "api/common/advice_words.h"
#include "api/common/download.h"
#include "api/common/layout.h"
#include "api/dialects.h"
#include "base/text.h"
#include "workspace/links.h"

namespace sk::api::links {

namespace {

using http::Reply;

// Parses a version id in any dialect's form: Sandkeep's, OpenAI's container file or Files API, or without
// prefix.
std::optional<Id> parse_version(std::string_view text) {
  for (std::string_view prefix : {"v_", "cfile_", "file-", ""}) {
    if (auto id = Id::from_prefixed(text, prefix)) return id;
  }
  return std::nullopt;
}

Error no_such_link() {
  return Error(Code::not_found, "this link leads to nothing, or you may not open it")
      .hint("Sign in, send a key that may read the workspace, or request a signed link.");
}

bool may_read(Call& call, const workspace::Version& version) {
  if (!call.credential) return false;
  call.act_as(authenticate_key(call.app, call.request, call.credential->secret));
  return call.app.keep.workspaces().may_read(call.actor, version.workspace);
}

enum class Way { signature, right };

Way find_way(Call& call, const workspace::Version& version) {
  auto signature = call.query.text("s");
  if (signature && call.app.keep.links().opens(version, *signature)) return Way::signature;
  if (may_read(call, version)) return Way::right;
  throw no_such_link();
}

workspace::Version find_version(Call& call) {
  auto id = parse_version(call.request.param("version"));
  auto version = id ? call.app.keep.files().find_version_anywhere(*id) : std::nullopt;
  if (!version) throw no_such_link();
  return *version;
}

// A signed URL works until its owner revokes the links, so each use asks the server again. A version never
// changes for those who have a right to read it.
std::string cache_control(Way way) {
  return way == Way::signature ? "private, no-cache" : "private, max-age=31536000, immutable";
}

Reply thumbnail_reply(const std::optional<interpreter::Thumbnail>& thumbnail, Way way) {
  auto reply = Reply::text(thumbnail->bytes, thumbnail->mime);
  add_content_guards(reply.headers, thumbnail->mime);
  reply.headers.set("Cache-Control", cache_control(way));
  if (way == Way::right) reply.headers.set("Vary", "Authorization, Cookie, X-API-Key");
  return reply;
}

// Returns a deferred reply that completes when the sandbox has made the thumbnail; no thread waits.
Reply open_thumbnail(Call& call, const workspace::Version& version, Way way) {
  constexpr std::chrono::seconds kWaitMost{60};
  auto none = Error(Code::not_found, "there is no thumbnail of this file").hint("Open the file itself.");
  if (!call.app.interpreter.can_have_thumbnail(version)) throw std::move(none);
  call.hold_connection();
  http::Request request;  // the part that an error reply needs
  request.request_id = call.request.request_id;
  request.path = call.request.path;
  auto refuse = [request, none] { return dialect_error_reply(request, none); };
  auto deferred = std::make_shared<http::Deferred>(kWaitMost, refuse);
  call.app.interpreter.make_thumbnail(
      version, [deferred, refuse, way](const std::optional<interpreter::Thumbnail>& thumbnail) {
        deferred->complete(thumbnail ? thumbnail_reply(thumbnail, way) : refuse());
      });
  return Reply::deferred(deferred);
}

Reply open_link(Call& call) {
  auto version = find_version(call);
  auto way = find_way(call, version);
  call.note("link", version.id.with_prefix(workspace::prefix::version));
  if (call.query.flag("thumbnail")) return open_thumbnail(call, version, way);
  DownloadOptions options;
  options.attachment = call.query.flag("download");
  options.cache_control = cache_control(way);
  auto reply = download(call.app, call.request, version, options);
  if (way == Way::right) reply.headers.set("Vary", "Authorization, Cookie, X-API-Key");
  return reply;
}

bool is_browser(const http::Request& request) {
  auto accept = request.headers.get("Accept");
  return accept && accept->find("text/html") != std::string::npos;
}

// Shows instructions to a person who follows a link from a chat. Browsers withhold the page's cookie on such
// a visit. "Sign in" may then only require a click.
Reply explain(const Call& call, const Error& error) {
  page::Markup out;
  out << "<div class=\"card message\" role=\"alert\"><h1>" << page::esc(error.message()) << "</h1>";
  if (error.code() == Code::not_found) {
    out << "<p>If the file is yours: <a href=\"" << page::esc(call.request.path)
        << "\">open it again</a>, or <a href=\"/?next=" << page::esc(percent_encode(call.request.path))
        << "\">sign in first</a>.</p>";
  } else {
    out << "<p>" << page::esc(hint_for(Audience::page, error)) << "</p>";
  }
  out << "</div>";
  return page::html_page({.title = "Link", .user = "", .form_token = ""}, out, error.http_status());
}

Reply answer_link(Call& call) {
  try {
    return open_link(call);
  } catch (const Error& error) {
    bool for_people = error.code() == Code::not_found || error.code() == Code::gone;
    if (!for_people || !is_browser(call.request)) throw;
    call.note_denied(error);
    return explain(call, error);
  }
}

}  // namespace

void add_routes(Routes& routes) {
  routes.add({.method = "GET",
              .pattern = "/k/{version}/{name}",
              .id = "open_link",
              .tag = "links",
              .summary = "The permanent link of one version",
              .details = "A private link needs a key (or the page's sign-in) that may read the workspace; "
                         "otherwise the answer is 404. A `signed_link` needs no key, until the workspace's "
                         "links are revoked. The id may also be written with `cfile_`, `file-` or no prefix.",
              .auth = Auth::maybe,
              .query = {{.name = "s", .about = "The signature."},
                        {.name = "download",
                         .type = FieldType::boolean,
                         .about = "Whether the browser saves the file instead of showing it."},
                        {.name = "thumbnail",
                         .type = FieldType::boolean,
                         .about = "Returns a thumbnail of an image, at most 256 pixels wide and high."}},
              .answers = {{200, "The bytes.", "", "*/*"},
                          {206, "A range of the bytes.", "", "*/*"},
                          {304, "Unchanged."}},
              .errors = {Code::unauthorized, Code::not_found, Code::gone, Code::range_not_satisfiable,
                         Code::too_many_requests}},
             answer_link);
}

}  // namespace sk::api::links
