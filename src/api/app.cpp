#include "api/app.h"

#include "api/foundry/foundry.h"
#include "api/azure/azure.h"
#include "api/librechat/librechat.h"
#include "api/links/links.h"
#include "api/openai/openai.h"
#include "api/mcp/mcp.h"
#include "api/page/page.h"
#include "api/rest/rest.h"

namespace sk::api {

App::App(workspace::Keep& the_keep, const Settings& the_settings, Metrics& the_metrics,
         std::string the_version)
    : keep(the_keep),
      settings(the_settings),
      metrics(the_metrics),
      version(std::move(the_version)),
      clock(the_keep.ground().clock),
      librechat_tokens(librechat::load_token_verifier(the_settings)),
      sessions(clock) {}

http::Router make_router(App& app) {
  http::Router router;
  Routes routes(router, app);
  rest::add_routes(routes);
  openai::add_routes(routes, {.prefix = "/v1", .tag = "openai"});
  for (const auto& mount : foundry::mounts()) openai::add_routes(routes, mount);
  links::add_routes(routes);
  mcp::add_routes(routes, app);
  page::add_routes(routes);
  azure::add_routes(routes);
  librechat::add_routes(routes);
  return router;
}

}  // namespace sk::api
