// The route table of a dialect. Adds each handler to the router together with its description, and keeps the
// descriptions.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "api/common/call.h"
#include "api/common/operation.h"
#include "http/server.h"

namespace sk::api {

using CallHandler = std::function<http::Reply(Call&)>;
// The sink may keep the call until it has returned its reply.
using CallSinkHandler = std::function<std::unique_ptr<http::BodySink>(std::shared_ptr<Call>)>;
using Operations = std::vector<std::shared_ptr<const Operation>>;

// Used while the router is built. Calls handlers with a prepared Call. Records errors that mean a missing
// right in the access log before they reach the client.
class Routes {
 public:
  Routes(http::Router& router, App& app) : router_(router), app_(app) {}

  void add(Operation operation, CallHandler handler);
  void add_streaming(Operation operation, CallSinkHandler handler);

  const App& app() const { return app_; }

  // Grows as routes are added. Shared with the handler that serves the OpenAPI document.
  std::shared_ptr<const Operations> operations() const { return operations_; }

 private:
  std::shared_ptr<const Operation> keep(Operation operation);

  http::Router& router_;
  App& app_;
  std::shared_ptr<Operations> operations_ = std::make_shared<Operations>();
};

}  // namespace sk::api
