// The HTTP/1.1 server: sockets, TLS, limits, routing. Handlers are plain functions on a bounded worker pool.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "http/listener.h"
#include "http/message.h"

namespace sk::http {

// Runs on a worker thread, after the whole body (up to body_bytes_max) is in request.body.
using Handler = std::function<Reply(Request&)>;
// Runs on a worker thread when the headers are there; `100 Continue` is sent only if it does not throw.
using SinkHandler = std::function<std::unique_ptr<BodySink>(Request&)>;

struct RouteOptions {
  size_t body_bytes_max = 1 << 20;  // for buffered routes
};

// Method and pattern to handler. Patterns: "/api/v1/workspaces/{ws}/files/{path...}"; {name} is one segment,
// {name...} the rest, which may be empty. A literal segment wins over a parameter. HEAD is served by GET's
// handler, its body dropped; OPTIONS and 405 with Allow come by themselves.
class Router {
 public:
  void add(std::string method, std::string pattern, Handler handler, RouteOptions options = {});
  void add_streaming(std::string method, std::string pattern, SinkHandler handler);

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
  // route is null when nothing matches; `allowed` lists the methods that this path has. Throws
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

// Settings; their defaults are in the server's table.
struct ServerOptions {
  std::string host;
  uint16_t port;  // 0: any free one; port() tells
  std::string tls_cert_pem, tls_key_pem;
  std::string public_url;                    // overrides what links are minted with
  std::vector<std::string> trusted_proxies;  // addresses or CIDR whose X-Forwarded-* we believe
  size_t loop_threads;
  size_t worker_threads;
  size_t connections_max;
  size_t connections_per_address_max;  // 0: no limit of its own
  size_t header_bytes_max;
  int idle_timeout_s;  // between requests, and for a client that neither sends nor reads
  int event_heartbeat_s;
  size_t event_buffer_bytes_max;
  bool log_requests;                      // a line each
  std::vector<std::string> cors_origins;  // "*" for any; empty: none
  // A path as logs may show it, where some hold secrets; as it is by default.
  std::function<std::string(std::string_view)> loggable_path;
  // Makes a dialect's error body; the default is {error:{code,message,hint,request_id,…facts}}.
  std::function<Reply(const Request&, const Error&)> error_reply;
};

// Starts in the constructor (throws Error when it cannot listen), answers until stop() or destruction.
class Server {
 public:
  Server(ServerOptions options, Router router, Metrics& metrics);
  // The same on an address that was taken before; the options' host and port do not count.
  Server(Listener listener, ServerOptions options, Router router, Metrics& metrics);
  ~Server();
  uint16_t port() const;
  // The first part of stop(): accepts no more connections, ends what waits for news, and lets the other
  // requests under way finish. Whether all did within `limit`.
  bool drain(std::chrono::milliseconds limit);
  // Drains, refuses what still waits for its reply, cuts off the rest, joins. Idempotent.
  void stop(std::chrono::milliseconds limit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// {error:{code,message,hint,request_id,…facts}} with the code's HTTP status.
Reply error_to_reply(const Request& request, const Error& error);

}  // namespace sk::http
