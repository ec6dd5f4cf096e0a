// The HTTP side of MCP: one route for both eras of the protocol.
#include "api/mcp/guard.h"
#include "api/mcp/hub.h"
#include "api/mcp/mcp.h"
#include "api/mcp/methods.h"
#include "api/mcp/modern.h"
#include "api/mcp/resources.h"
#include "base/text.h"

namespace sk::api::mcp {

namespace {

using http::Reply;

constexpr std::string_view kSessionHeader = "Mcp-Session-Id";
constexpr int kMethodNotAllowed = 405, kNotAcceptable = 406;

bool takes_events(const http::Request& request) {
  auto accept = request.headers.get_list("Accept");
  return accept && ascii_lower(*accept).find("text/event-stream") != std::string::npos;
}

// Checks Host and Origin first, so that a web page learns nothing about keys; then authenticates. Ignores the
// page's cookie, because browsers attach it to requests of any site.
void admit(Call& call) {
  check_host_and_origin(call.app, call.request);
  if (call.credential && call.credential->from_cookie) call.credential.reset();
  call.act_as(authenticate(call.app, call.request, call.credential));
}

Reply error_reply(const Json& id, const RpcError& error, int status) {
  return Reply::json(error_message(id, error), status);
}

void check_legacy_version(const http::Request& request) {
  auto version = request.headers.get("MCP-Protocol-Version");
  if (!version) return;
  for (auto known : kLegacyVersions)
    if (trim(*version) == known) return;
  throw RpcError(rpc_code::invalid_request,
                 "this server does not support the version in MCP-Protocol-Version", nullptr, kBadRequest);
}

std::shared_ptr<LegacySession> need_session(Hub& hub, const Call& call) {
  auto id = call.request.headers.get(kSessionHeader);
  if (!id)
    throw RpcError(rpc_code::invalid_request, "the header Mcp-Session-Id is missing; start with initialize",
                   nullptr, kBadRequest);
  auto session = hub.sessions.find(trim(*id), owner_of(call.actor));
  if (!session) throw session_is_over();
  session->end_with_key(call.app.keep.revocations(), call.actor, call.checked);
  return session;
}

// Runs the method. Its errors become JSON-RPC answers, not HTTP errors.
Reply answer(Turn& turn, const std::function<std::optional<Json>(Turn&)>& run) {
  std::optional<RpcError> failure;
  try {
    auto result = run(turn);
    if (turn.reply) return std::move(*turn.reply);
    return Reply::json(turn.envelope.wrap(std::move(*result)));
  } catch (const RpcError& error) {
    failure = error;
  } catch (const Error& error) {
    turn.call.note_denied(error);
    failure = to_rpc_error(error);
  }
  return error_reply(turn.message.id, *failure, turn.era == Era::modern ? failure->http_status() : 200);
}

Reply post_modern(Turn& turn) {
  if (turn.message.kind != RpcMessage::Kind::request) return Reply::empty(202);
  return answer(turn, [](Turn& checked) {
    check_modern(checked);
    return dispatch(checked);
  });
}

Reply post_legacy(Turn& turn) {
  const auto& message = turn.message;
  if (message.kind == RpcMessage::Kind::request && message.method == "initialize") {
    auto reply = answer(turn, [](Turn& begun) { return std::optional(initialize(begun)); });
    if (turn.session) reply.headers.set(std::string(kSessionHeader), turn.session->id());
    return reply;
  }
  check_legacy_version(turn.call.request);
  if (turn.hub.offer.has_sessions) {
    turn.session = need_session(turn.hub, turn.call);
    turn.version = turn.session->agreed().version;
    turn.capabilities = turn.session->agreed().capabilities;
  }
  if (message.kind == RpcMessage::Kind::request) return answer(turn, dispatch);
  if (message.kind == RpcMessage::Kind::notification) notified(turn);
  if (message.kind == RpcMessage::Kind::response && turn.session) turn.session->answered(message);
  return Reply::empty(202);
}

Reply post(Hub& hub, Call& call) {
  admit(call);
  Turn turn{.call = call, .hub = hub};
  try {
    turn.message = parse_message(call.request.body, call.json_claim());
    turn.takes_events = takes_events(call.request);
    bool modern = hub.offer.has_sessions && is_modern(call.request.headers, turn.message);
    turn.era = modern ? Era::modern : Era::legacy;
    turn.version = modern ? kModernVersion : kNewestLegacyVersion;
    turn.envelope = {.id = turn.message.id, .era = turn.era, .server_info = hub.server_info()};
    return modern ? post_modern(turn) : post_legacy(turn);
  } catch (const RpcError& error) {
    return error_reply(error.id().is_null() ? turn.message.id : error.id(), error, error.http_status());
  }
}

bool says_modern(const http::Request& request) {
  auto version = request.headers.get("MCP-Protocol-Version");
  return version && trim(*version) == kModernVersion;
}

Reply not_allowed() {
  auto reply = error_reply(
      nullptr, RpcError(rpc_code::invalid_request, "this version of the protocol allows only POST"),
      kMethodNotAllowed);
  reply.headers.set("Allow", "POST");
  return reply;
}

// Opens the stream of messages that belong to no request, or resumes a broken one.
Reply get(Hub& hub, Call& call) {
  admit(call);
  if (says_modern(call.request) || !hub.offer.has_sessions) return not_allowed();
  try {
    check_legacy_version(call.request);
    Turn turn{.call = call, .hub = hub};
    turn.session = need_session(hub, call);
    if (!takes_events(call.request))
      throw RpcError(rpc_code::invalid_request, "this needs 'Accept: text/event-stream'", nullptr,
                     kNotAcceptable);
    call.hold_connection();
    if (auto last = call.request.headers.get("Last-Event-ID")) return turn.session->resume(trim(*last));
    start_watch(turn);
    return turn.session->listen();
  } catch (const RpcError& error) {
    return error_reply(nullptr, error, error.http_status());
  }
}

Reply remove(Hub& hub, Call& call) {
  admit(call);
  if (says_modern(call.request) || !hub.offer.has_sessions) return not_allowed();
  try {
    hub.sessions.end(need_session(hub, call)->id(), owner_of(call.actor));
    return Reply::empty(204);
  } catch (const RpcError& error) {
    return error_reply(nullptr, error, error.http_status());
  }
}

void add_endpoint(Routes& routes, const std::string& path, const std::string& id, std::shared_ptr<Hub> hub) {
  auto add = [&](std::string method, std::string suffix, BodyKind body, Reply (*handler)(Hub&, Call&)) {
    routes.add({.method = std::move(method),
                .pattern = path,
                .id = id + "_" + suffix,
                .tag = "mcp",
                .summary = "The Model Context Protocol",
                .auth = Auth::maybe,
                .body_kind = body,
                .hidden = true,
                .lenient = true},
               [hub, handler](Call& call) { return handler(*hub, call); });
  };
  add("POST", "post", BodyKind::bytes, post);
  add("GET", "stream", BodyKind::none, get);
  add("DELETE", "end", BodyKind::none, remove);
}

}  // namespace

void add_routes(Routes& routes, App& app) {
  add_endpoint(routes, "/mcp", "mcp", std::make_shared<Hub>(app, main_offer()));
  add_endpoint(routes, "/azure/mcp", "azure_mcp", std::make_shared<Hub>(app, azure_offer()));
}

http::Reply write_error(const http::Request&, const Error& error) {
  auto reply = error_reply(nullptr, to_rpc_error(error), error.http_status());
  // A later version can add the sign-in URL here.
  if (error.code() == Code::unauthorized) reply.headers.set("WWW-Authenticate", "Bearer realm=\"sandkeep\"");
  return reply;
}

}  // namespace sk::api::mcp
