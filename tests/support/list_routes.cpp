// Prints every route of the server, "METHOD /pattern" a line, so that tests can find the ones that they do
// not know.
#include <cstdio>

#include "api/app.h"
#include "server/assembly.h"
#include "support/temp_folder.h"
#include "workspace/keep.h"

int main() {
  sk::test::TempFolder folder;
  sk::workspace::KeepOptions options;
  options.directory = folder.path();
  sk::SystemClock clock;
  sk::Metrics metrics;
  sk::workspace::Keep keep(options, clock, metrics);
  {
    sk::api::App app(keep, sk::server::api_settings(sk::server::Settings()), metrics, "0");
    auto router = sk::api::make_router(app);
    for (const auto& route : router.routes())
      std::printf("%s %s\n", route->method.c_str(), route->pattern.c_str());
    app.stop();
  }
  keep.stop();
}
