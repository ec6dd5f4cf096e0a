// Azure Container Apps' dynamic sessions under /azure/{anything}/…. Azure published two families of calls one
// after the other, and clients use both.
//
// Family A (api-version up to 2024-08-02-preview): /code/execute, /files/upload, /files,
// /files/content/{name}. Family B (from 2024-10-02-preview on): /executions, /files, /files/{name}/content,
// /session, /listSessions, /metadata. `identifier` names a session, which exists from its first use on.
#pragma once

#include "api/common/routes.h"

namespace sk::api::azure {

// Adds one call under every prefix that a pool's endpoint may have. The end of the path selects the route.
class Pools {
 public:
  explicit Pools(Routes& routes) : routes_(routes) {}
  // `operation.pattern` is the end of the path, such as "/code/execute".
  void add(Operation operation, const CallHandler& handler);
  void add_streaming(Operation operation, const CallSinkHandler& handler);

 private:
  Routes& routes_;
};

void add_execution_routes(Pools& pools);
void add_file_routes(Pools& pools);
void add_upload_routes(Pools& pools);
void add_session_routes(Pools& pools);

// Adds all of the above.
void add_routes(Routes& routes);

}  // namespace sk::api::azure
