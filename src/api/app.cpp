#include "api/app.h"

#include "api/azure/azure.h"
#include "api/foundry/foundry.h"
#include "api/librechat/librechat.h"
#include "api/links/links.h"
#include "api/mcp/mcp.h"
#include "api/openai/openai.h"
#include "api/page/page.h"
#include "api/rest/rest.h"
#include "base/log.h"

namespace sk::api {

namespace {

bridge::CapturesOptions captures_options(const DialectSettings& settings) {
  return {.remote = {.allow_private = settings.bridge_allow_private,
                     .attempts_max = static_cast<int>(settings.bridge_attempts_max),
                     .stall = std::chrono::seconds(settings.bridge_stall_s)},
          .threads = settings.bridge_threads,
          .threads_per_principal_max = settings.bridge_threads_per_principal_max,
          .message_time_max = std::chrono::seconds(settings.bridge_wait_max_s),
          .file_bytes_max = settings.file_bytes_max};
}

// An eighth of the connections is left to requests that are answered at once.
HeldConnections::Limits held_limits(const DialectSettings& settings) {
  return {.per_owner_max = settings.streams_per_principal_max,
          .total_max = settings.connections_max - settings.connections_max / 8};
}

constexpr uint64_t kJsonMemoryBytes = 256 << 20;

}  // namespace

App::App(workspace::Keep& the_keep, interpreter::Interpreter& the_interpreter, DialectSettings the_settings,
         Metrics& the_metrics, std::string the_version, const mcp::Extension* the_mcp_extension)
    : keep(the_keep),
      interpreter(the_interpreter),
      settings(std::move(the_settings)),
      metrics(the_metrics),
      version(std::move(the_version)),
      mcp_extension(the_mcp_extension),
      clock(the_keep.context().clock),
      librechat_tokens(librechat::load_token_verifier(settings)),
      rates(settings),
      sign_ins(clock),
      held_connections(held_limits(settings)),
      json_memory(kJsonMemoryBytes,
                  metrics.gauge("sandkeep_json_memory_bytes", "Memory for the values of JSON bodies")),
      mcp_memory(settings.mcp_memory_bytes_max,
                 metrics.gauge("sandkeep_mcp_memory_bytes", "Memory for messages that MCP sessions hold")),
      given_files(the_keep),
      conversations(the_keep.context(), the_keep.files(), the_keep.workspaces()),
      captures(the_keep, conversations, captures_options(settings)),
      top(*this),
      workspace_purger(the_keep, the_interpreter, background) {
  the_keep.context().on_workspace_purge.emplace_back(conversations::purge_conversation_rows);
}

// A chore, since it may be many files.
void App::retract_due_later() {
  background.run_after(std::chrono::seconds(1), [this] {
    bool accepted = background.run_chore([this] {
      try {
        given_files.retract_due();
      } catch (const std::exception& error) {
        log::error("background work failed; it is tried again", {{"error", error.what()}});
      }
      retract_due_later();
    });
    if (!accepted) retract_due_later();
  });
}

void check_settings(const DialectSettings& settings) { librechat::load_token_verifier(settings); }

http::Router make_router(App& app) {
  http::Router router;
  Routes routes(router, app);
  rest::add_routes(routes);
  openai::add_routes(routes, {.prefix = "/v1", .tag = "openai"});
  for (const auto& mount : foundry::mounts(app.settings)) openai::add_routes(routes, mount);
  links::add_routes(routes);
  mcp::add_routes(routes, app);
  page::add_routes(routes);
  azure::add_routes(routes);
  librechat::add_routes(routes);
  return router;
}

}  // namespace sk::api
