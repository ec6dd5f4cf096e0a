#include "api/common/call.h"

#include "api/common/conditions.h"
#include "api/dialects.h"
#include "base/log.h"
#include "base/path.h"
#include "base/text.h"

namespace sk::api {

namespace {

// Limits the bytes that unauthenticated clients can write into the access log.
constexpr size_t kNoteTargetBytesMax = 512;

// Memory of a parsed value, with its part of its object or array.
constexpr uint64_t kBytesPerValue = 120;
constexpr size_t kUncountedValues = 1000;
// Most handlers are done with their body within this time.
constexpr int64_t kParsedBodyWaitS = 2;

Json read_json_body(const http::Request& request, const JsonClaim& claim) {
  auto type = request.headers.get("Content-Type");
  if (type && ascii_lower(*type).starts_with("multipart/")) {
    throw Error(Code::unsupported_media_type, "the body must be JSON, with Content-Type: application/json");
  }
  if (trim(request.body).empty()) return Json::object();
  return parse_json(request.body, "the request body", claim);
}

bool lasts(const http::Reply& reply) {
  if (auto* deferred = std::get_if<std::shared_ptr<http::Deferred>>(&reply.body)) return !(*deferred)->done();
  if (auto* stream = std::get_if<std::shared_ptr<http::EventStream>>(&reply.body))
    return !(*stream)->closed();
  return false;
}

}  // namespace

void Call::authenticate_actor() {
  checked = app.keep.revocations().now();
  if (operation.auth != Auth::nobody) credential = find_credential(app, request);
  if (!credential && !operation.key_param.empty())
    credential = Credential{.secret = request.param(operation.key_param)};
  if (operation.auth == Auth::key) {
    act_as(operation.takes_librechat_token ? authenticate_or_token(app, request, credential)
                                           : authenticate(app, request, credential));
    request.owner = actor.principal().raw();
  }
}

void Call::act_as(workspace::Actor authenticated) {
  actor = std::move(authenticated);
  app.rates.count(request, actor);
}

void Call::prepare() {
  authenticate_actor();
  refuse_conditions(operation, request.headers);
  auto* unknown = operation.lenient ? &ignored : nullptr;
  query = Query(operation.query, request.query, unknown);
  if (operation.body_kind == BodyKind::json)
    body = Body(operation.body, read_json_body(request, json_claim()), "", unknown);
  if (operation.body_kind == BodyKind::form) form = Query(operation.body, parse_form(request.body));
}

JsonClaim Call::json_claim() {
  return [this](size_t values) {
    if (values <= kUncountedValues || json_memory_.cover(values * kBytesPerValue, request.owner)) return;
    throw Error(Code::unavailable, "bodies that are being read use all memory for them")
        .retry_in(kParsedBodyWaitS)
        .advise(Advice::retry_soon);
  };
}

workspace::Authority Call::open_workspace(workspace::Right right) {
  return open_workspace(request.param("ws"), right);
}

workspace::Authority Call::open_workspace(std::string_view id_or_name, workspace::Right right) {
  auto workspace = app.keep.workspaces().enter(actor, id_or_name, right);
  workspace_ = workspace.workspace_id();
  opened_.emplace(workspace, right);
  return workspace;
}

workspace::RightWatch Call::watch_opened() const {
  auto ignore = [](const Error&) {};
  if (opened_) return app.keep.revocations().watch(opened_->first, opened_->second, ignore, checked);
  return actor.principal() ? app.keep.revocations().watch_key(actor, ignore, checked)
                           : workspace::RightWatch();
}

workspace::Authority Call::open_workspace_with_figures() {
  return app.keep.workspaces().open(
      actor, open_workspace().workspace_id().with_prefix(workspace::prefix::workspace));
}

workspace::Authority Call::look_at_workspace() {
  auto workspace = app.keep.workspaces().look_at(actor, request.param("ws"));
  workspace_ = workspace.workspace_id();
  return workspace;
}

std::string Call::path() const { return clean_path(request.param("path")); }
std::string Call::file_path() const { return clean_file_path(request.param("path")); }

void Call::need_admin() const {
  if (!actor.is_admin()) throw Error(Code::forbidden, "only an administrator may do this");
  if (actor.only_workspace()) throw Error(Code::forbidden, "this key is bound to one workspace");
}

size_t Call::limit(uint64_t most) const {
  auto limit = query.integer("limit");
  return limit ? static_cast<size_t>(within(*limit, 1, static_cast<int64_t>(most), "limit")) : most;
}

std::function<workspace::Actor()> Call::renewer() const {
  SK_CHECK(credential.has_value());
  return [&keep = app.keep, secret = credential->secret] { return keep.access().authenticate(secret); };
}

void Call::hold_connection() {
  if (held_connection_) return;
  held_connection_ =
      app.held_connections.hold(actor.principal() ? actor.principal().raw() : request.remote_address);
}

void Call::hold_while_it_lasts(http::Reply& reply) {
  if (!lasts(reply)) return;
  hold_connection();
  reply.held = held_connection_;
}

void Call::note(std::string_view action, std::string target) const {
  write_note(action, std::move(target), "ok");
}

bool Call::wants_stream() const {
  auto accept = request.headers.get("Accept");
  return accept && ascii_lower(*accept).find("text/event-stream") != std::string::npos;
}

void Call::note_denied(const Error& error) const {
  switch (error.code()) {
    case Code::unauthorized:
    case Code::forbidden:
    case Code::not_found:
    case Code::locked:
      write_note("denied", request.method + " " + loggable_path(request.path), info(error.code()).name);
      break;
    default:
      break;
  }
}

void Call::write_note(std::string_view action, std::string target, std::string_view outcome) const {
  target = log::loggable(target);
  if (target.size() > kNoteTargetBytesMax) target = cut_text(target, kNoteTargetBytesMax);
  app.keep.access_log().note({.workspace = workspace_,
                              .principal = actor.principal(),
                              .action = std::string(action),
                              .target = std::move(target),
                              .outcome = std::string(outcome),
                              .address = request.remote_address});
}

}  // namespace sk::api
