// Server information, health, and the current principal.
#include "api/common/shapes.h"
#include "api/rest/openapi.h"
#include "api/rest/rest.h"
#include "api/rest/top_gauges.h"
#include "base/log.h"
#include "base/path.h"

namespace sk::api::rest {

namespace {

using http::Reply;

Reply describe_server(Call& call) {
  const auto& settings = call.app.settings;
  const auto& base = call.request.base_url;
  return Reply::json({
      {"name", "sandkeep"},
      {"version", call.app.version},
      {"limits",
       {{"file_bytes_max", settings.file_bytes_max},
        {"json_body_bytes_max", settings.json_body_bytes_max},
        {"multipart_parts_max", settings.multipart_parts_max},
        {"path_bytes_max", kPathBytesMax},
        {"name_bytes_max", kNameBytesMax},
        {"path_depth_max", kDepthMax},
        {"list_page_max", settings.list_page_max},
        {"batch_operations_max", settings.batch_operations_max},
        {"lock_ttl_min_s", settings.lock_ttl_min_s},
        {"lock_ttl_max_s", settings.lock_ttl_max_s},
        {"lock_wait_max_s", settings.lock_wait_max_s},
        {"events_wait_max_s", settings.events_wait_max_s}}},
      {"links",
       {{"openapi", base + "/api/v1/openapi.json"}, {"page", base + "/"}, {"health", base + "/healthz"}}},
  });
}

Reply describe_actor(Call& call) {
  const auto& actor = call.actor;
  Json workspace = actor.only_workspace()
                       ? Json(actor.only_workspace()->with_prefix(workspace::prefix::workspace))
                       : Json(nullptr);
  return Reply::json({
      {"principal",
       {{"id", actor.principal().with_prefix(workspace::prefix::principal)},
        {"name", actor.name()},
        {"admin", actor.is_admin()}}},
      {"key",
       {{"id", actor.key().with_prefix(workspace::prefix::key)},
        {"expires_at", time_json(actor.expires_us())}}},
      {"scope", {{"read_only", !actor.may_write()}, {"workspace_id", workspace}}},
  });
}

// Readiness requires a readable catalog; liveness only requires an answer.
Reply answer_ready(Call& call) {
  call.app.keep.journal().head_seq(
      workspace::ReadableJournal::of_server("readiness means that the catalog can be read"));
  return Reply::json({{"status", "ok"}});
}

// The actor of an administrator's key; nullopt for everyone else. Error(unauthorized) for a wrong key, whose
// owner would otherwise look for the missing figures.
std::optional<workspace::Actor> administrator(const Call& call) {
  if (!call.credential || call.credential->from_cookie) return std::nullopt;
  auto actor = call.app.keep.access().authenticate(call.credential->secret);
  return actor.is_admin() ? std::optional(actor) : std::nullopt;
}

// Names and figures of principals are only for administrators. The counters stay readable without a catalog.
Reply show_metrics(Call& call) {
  auto text = call.app.metrics.render();
  try {
    auto snapshot = call.app.top.read();
    append_server_gauges(text, *snapshot);
    if (auto actor = administrator(call)) {
      auto rows = largest(*snapshot, TopSort::memory, kPrincipalLabelsMax);
      std::vector<Id> principals;
      for (const auto& row : rows.tenants) principals.push_back(row.principal);
      append_principal_gauges(text, rows, call.app.keep.access().names_of(*actor, principals));
    }
  } catch (const Error& error) {
    if (error.code() == Code::unauthorized) throw;
    log::warn("some metrics could not be gathered", {{"error", error.message()}});
  }
  return Reply::text(std::move(text), "text/plain; version=0.0.4; charset=utf-8");
}

void add_health_routes(Routes& routes) {
  routes.add({.method = "GET",
              .pattern = "/healthz",
              .id = "get_health",
              .tag = "server",
              .summary = "Checks whether the server answers",
              .auth = Auth::nobody,
              .answers = {{200, "It does.", "Status"}},
              .answers_at_once = true,
              .health_check = true},
             [](Call&) { return Reply::json({{"status", "ok"}}); });
  routes.add({.method = "GET",
              .pattern = "/readyz",
              .id = "get_readiness",
              .tag = "server",
              .summary = "Checks whether the server can read its catalog",
              .auth = Auth::nobody,
              .answers = {{200, "It can.", "Status"}},
              .errors = {Code::unavailable},
              .health_check = true},
             answer_ready);
  routes.add({.method = "GET",
              .pattern = "/metrics",
              .id = "get_metrics",
              .tag = "server",
              .summary = "Returns counters and timings for Prometheus",
              .details = "An administrator's key adds figures of the 20 largest principals by memory, and of "
                         "the others together.",
              .auth = Auth::maybe,
              .answers = {{200, "Prometheus text format 0.0.4.", "", "text/plain"}},
              .errors = {Code::unauthorized}},
             show_metrics);
}

}  // namespace

void add_server_routes(Routes& routes) {
  routes.add({.method = "GET",
              .pattern = kRoot,
              .id = "get_server",
              .tag = "server",
              .summary = "Describes this server: version, limits, documentation",
              .auth = Auth::nobody,
              .answers = {{200, "The server.", "Server"}}},
             describe_server);
  routes.add({.method = "GET",
              .pattern = kRoot + "/openapi.json",
              .id = "get_openapi",
              .tag = "server",
              .summary = "This document",
              .auth = Auth::nobody,
              .answers = {{200, "OpenAPI 3.1.", "OpenApi"}}},
             [operations = routes.operations()](Call& call) {
               return Reply::json(openapi_document(*operations, call.app.version, call.request.base_url));
             });
  routes.add({.method = "GET",
              .pattern = kRoot + "/me",
              .id = "get_me",
              .tag = "keys",
              .summary = "Returns the owner and the scope of the key",
              .answers = {{200, "The actor.", "Me"}}},
             describe_actor);
  add_health_routes(routes);
}

}  // namespace sk::api::rest
