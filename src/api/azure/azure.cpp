#include "api/azure/azure.h"

namespace sk::api::azure {

namespace {

// "/subscriptions/S/resourceGroups/G/sessionPools/P" has six segments; two more are reserved for proxies.
constexpr int kPrefixSegmentsMax = 8;

// "", "/{p1}", "/{p1}/{p2}", …: pool_of() in session.cpp reads these parameters.
std::vector<std::string> prefixes() {
  std::vector<std::string> out = {""};
  for (int n = 1; n <= kPrefixSegmentsMax; ++n) out.push_back(out.back() + "/{p" + std::to_string(n) + "}");
  return out;
}

Operation under(const Operation& operation, const std::string& prefix, size_t number) {
  Operation out = operation;
  out.pattern = "/azure" + prefix + operation.pattern;
  out.id = operation.id + "_" + std::to_string(number);
  out.hidden = out.lenient = out.opens_locks = true;
  out.query =
      std::move(out.query) +
      Fields{{.name = "api-version", .about = "The API version, which selects the shape of the answer."},
             {.name = "identifier", .about = "The session's name."}};
  return out;
}

}  // namespace

void Pools::add(Operation operation, const CallHandler& handler) {
  size_t number = 0;
  for (const auto& prefix : prefixes()) routes_.add(under(operation, prefix, number++), handler);
}

void Pools::add_streaming(Operation operation, const CallSinkHandler& handler) {
  size_t number = 0;
  for (const auto& prefix : prefixes()) routes_.add_streaming(under(operation, prefix, number++), handler);
}

void add_routes(Routes& routes) {
  Pools pools(routes);
  add_execution_routes(pools);
  add_upload_routes(pools);
  add_file_routes(pools);
  add_session_routes(pools);
}

}  // namespace sk::api::azure
