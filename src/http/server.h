// HTTP/1.1 server: sockets, TLS, limits, routing. Handlers are plain functions that run on a bounded worker
// pool. An exception from a handler becomes an error reply.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "base/worker_pool.h"
#include "http/body_pace.h"
#include "http/listener.h"
#include "http/message.h"
#include "http/rate_limits.h"
#include "http/router.h"

namespace sk::http {

// Server settings. The settings table defines their defaults.
struct ServerOptions {
  std::string host;
  uint16_t port;  // 0: any free port, see port()
  std::string tls_cert_pem, tls_key_pem;
  // Whether browsers are told to use only HTTPS from now on. Not with a certificate that they do not trust.
  bool hsts;
  std::string public_url;                    // overrides the base URL of generated links
  std::vector<std::string> trusted_proxies;  // addresses or CIDR blocks, trusted for X-Forwarded-*
  size_t loop_threads;
  size_t worker_threads;
  size_t connections_max;
  size_t connections_per_address_max;  // 0: no limit
  RateOptions address_rate;            // requests of one client address
  size_t header_bytes_max;
  int idle_timeout_s;               // between requests, and for a client that neither sends nor reads
  uint64_t body_memory_bytes_max;   // for the bodies of all requests together
  uint64_t reply_memory_bytes_max;  // for all answers together that are not read from files
  BodyPace body_pace;
  int event_heartbeat_s;
  size_t event_buffer_bytes_max;
  bool log_requests;                      // one line per request
  std::vector<std::string> cors_origins;  // "*" for any origin; empty: none
  // Returns the form of a path that may be logged, because some paths contain secrets. Default: unchanged.
  std::function<std::string(std::string_view)> loggable_path;
  // Creates the error reply of a dialect. Default: error_to_reply().
  std::function<Reply(const Request&, const Error&)> error_reply;
};

// The load of a server at one moment, for operators.
struct HttpLoad {
  size_t connections = 0;   // open
  size_t requests = 0;      // between their headers and the end of their reply
  PoolLoad workers;         // that run handlers
  uint64_t body_bytes = 0;  // of request bodies in memory
  uint64_t body_bytes_max = 0;
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
  HttpLoad load() const;  // any thread
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

// Sets Retry-After where waiting helps after the error. Part of every reply to an error.
void set_retry_after(const Error& error, Headers& headers);

// Creates {error:{code,message,hint,request_id,…facts}} with the HTTP status of the code.
Reply error_to_reply(const Request& request, const Error& error);

}  // namespace sk::http
