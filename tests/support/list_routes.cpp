// Prints every route of the server, "METHOD /pattern" a line, so that tests can find the ones that they do
// not know.
#include <cstdio>

#include "api/app.h"
#include "interpreter/refusing_interpreter.h"
#include "server/options.h"
#include "support/temp_folder.h"
#include "workspace/keep.h"

int main() {
  sk::test::TempFolder folder;
  sk::server::Settings settings;
  settings.data = folder.path();
  sk::SystemClock clock;
  sk::Metrics metrics;
  sk::workspace::Keep keep(sk::server::keep_options(settings, {}), clock, metrics);
  sk::interpreter::RefusingInterpreter interpreter(keep, "only routes are asked for");
  {
    sk::api::App app(keep, interpreter, sk::server::api_settings(settings), metrics, "0");
    auto router = sk::api::make_router(app);
    for (const auto& route : router.routes())
      std::printf("%s %s\n", route->method.c_str(), route->pattern.c_str());
    app.stop();
  }
  keep.stop();
}
