// Maps requests to handlers. Pure: knows no socket and no thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace sk::http {

// Runs on a worker thread after the whole body (up to body_bytes_max) is in request.body.
using Handler = std::function<Reply(Request&)>;
// Runs on a worker thread when the headers have arrived. `100 Continue` is sent only if it does not throw.
using SinkHandler = std::function<std::unique_ptr<BodySink>(Request&)>;

struct RouteOptions {
  size_t body_bytes_max = 1 << 20;  // for buffered routes
  // Runs on a worker thread when the headers of a buffered route have arrived, unless the body is small.
  // Throws to refuse the request before its body is read. Sets Request::owner.
  std::function<void(Request&)> admit = {};
  // `loop`: the handler waits for nothing, and runs on the socket's own thread, also while all workers are
  // busy.
  enum class Thread { worker, loop } thread = Thread::worker;
  // Runs on the socket's own thread when the headers have arrived, and waits for nothing. Throws to refuse
  // the request before any other work.
  std::function<void(Request&)> screen = {};
  // Whether requests count for the rate limit of their address. Not for health checks.
  enum class Counts { yes, no } counts = Counts::yes;
};

// Maps method and pattern to a handler. Example: "/api/v1/workspaces/{ws}/files/{path...}". {name} matches
// one segment; {name...} matches the rest, which may be empty. Literal segments take precedence over
// parameters. HEAD uses the GET handler and drops its body. OPTIONS, and 405 with Allow, are automatic.
class Router {
 public:
  void add(std::string method, std::string pattern, Handler handler, RouteOptions options = {});
  void add_streaming(std::string method, std::string pattern, SinkHandler handler, RouteOptions options = {});

  struct Route {
    std::string method, pattern;
    Handler handler;
    SinkHandler sink_handler;
    RouteOptions options;
  };
  struct Match {
    const Route* route = nullptr;
    std::map<std::string, std::string, std::less<>> params;
    std::vector<std::string> allowed;
  };
  // Returns a null route when nothing matches. `allowed` lists the methods of this path. Throws
  // Error(bad_request) when the path has a malformed escape or an encoded NUL.
  Match match(std::string_view method, std::string_view path) const;
  const std::vector<std::unique_ptr<Route>>& routes() const { return routes_; }

 private:
  struct Node;
  struct Search;
  void insert(Route route);

  std::vector<std::unique_ptr<Route>> routes_;
  std::shared_ptr<Node> root_;
};

}  // namespace sk::http
