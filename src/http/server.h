// HTTP/1.1 server: sockets, TLS, limits, routing. Handlers are plain functions that run on a bounded worker
// pool. An exception from a handler becomes an error reply.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "http/listener.h"
#include "http/message.h"

namespace sk::http {

// Runs on a worker thread after the whole body (up to body_bytes_max) is in request.body.
using Handler = std::function<Reply(Request&)>;
// Runs on a worker thread when the headers have arrived. `100 Continue` is sent only if it does not throw.
using SinkHandler = std::function<std::unique_ptr<BodySink>(Request&)>;

struct RouteOptions {
  size_t body_bytes_max = 1 << 20;  // for buffered routes
};

// Maps method and pattern to a handler. Example: "/api/v1/workspaces/{ws}/files/{path...}". {name} matches
// one segment; {name...} matches the rest, which may be empty. Literal segments take precedence over
// parameters. HEAD uses the GET handler and drops its body. OPTIONS, and 405 with Allow, are automatic.
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

// Server settings. The settings table defines their defaults.
struct ServerOptions {
  std::string host;
  uint16_t port;  // 0: any free port, see port()
  std::string tls_cert_pem, tls_key_pem;
  std::string public_url;                    // overrides the base URL of generated links
  std::vector<std::string> trusted_proxies;  // addresses or CIDR blocks, trusted for X-Forwarded-*
  size_t loop_threads;
  size_t worker_threads;
  size_t connections_max;
  size_t connections_per_address_max;  // 0: no limit
  size_t header_bytes_max;
  int idle_timeout_s;  // between requests, and for a client that neither sends nor reads
  int event_heartbeat_s;
  size_t event_buffer_bytes_max;
  bool log_requests;                      // one line per request
  std::vector<std::string> cors_origins;  // "*" for any origin; empty: none
  // Returns the form of a path that may be logged, because some paths contain secrets. Default: unchanged.
  std::function<std::string(std::string_view)> loggable_path;
  // Creates the error reply of a dialect. Default: error_to_reply().
  std::function<Reply(const Request&, const Error&)> error_reply;
};

// Starts in the constructor, which throws Error when it cannot listen. Serves requests until stop() or
// destruction.
class Server {
 public:
  Server(ServerOptions options, Router router, Metrics& metrics);
  // Uses an address that is already bound and ignores the host and port of the options.
  Server(Listener listener, ServerOptions options, Router router, Metrics& metrics);
  ~Server();
  uint16_t port() const;
  // Performs the first part of stop(): accepts no new connections, ends replies that wait for events, and
  // lets the other requests finish. Returns whether all finished within `limit`.
  bool drain(std::chrono::milliseconds limit);
  // Drains, answers 503 to requests that still wait for a deferred reply, closes all other connections, and
  // joins. Idempotent.
  void stop(std::chrono::milliseconds limit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Creates {error:{code,message,hint,request_id,…facts}} with the HTTP status of the code.
Reply error_to_reply(const Request& request, const Error& error);

}  // namespace sk::http
