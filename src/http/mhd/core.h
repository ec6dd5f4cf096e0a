// State shared by all parts of one server. Internal to this room. Owned by Server::Impl; outlives every
// request.
#pragma once

#include <array>
#include <atomic>

#include "base/fair_queue.h"
#include "base/id.h"
#include "base/memory_budget.h"
#include "base/metrics.h"
#include "http/forwarded.h"
#include "http/known_turns.h"
#include "http/mhd/connections.h"
#include "http/mhd/socket_watcher.h"
#include "http/mhd/tally.h"
#include "http/server.h"

namespace sk::http {

// Request counters of one server. Counters are created on the first use of a route and status class, so
// /metrics lists only what occurred. Thread-safe.
class RequestMetrics {
 public:
  RequestMetrics(Metrics& metrics, const Router& router);
  // `route` is null for requests that matched no route.
  void finished(const Router::Route* route, int status, int64_t duration_us);

  Gauge& under_way;  // requests between their headers and the end of their reply
  Counter& received_bytes;
  Counter& sent_bytes;

 private:
  struct PerRoute {
    std::string method, pattern;
    std::array<std::atomic<Counter*>, 6> by_class{};
    std::atomic<Histogram*> duration = nullptr;
  };
  static constexpr std::array kRefusals{401, 408, 413, 429, 503, 507};
  Metrics& metrics_;
  std::array<Counter*, kRefusals.size()> refused_{};
  PerRoute unmatched_;
  std::map<const Router::Route*, PerRoute> routes_;  // constant after construction, except for the atomics
};

struct Core {
  Core(ServerOptions server_options, Router server_router, Metrics& metrics);

  bool tls() const { return !options.tls_cert_pem.empty(); }
  // Creates the reply for an error with the configured formatter.
  Reply error_reply(const Request& request, const Error& error) const;

  // Constant after construction.
  const ServerOptions options;
  const Router router;
  const TrustedProxies proxies;

  SystemClock clock;
  IdMaker ids{clock};
  RequestMetrics request_metrics;
  Connections connections;
  KnownTurns turns;
  MemoryBudget body_budget;
  MemoryBudget reply_budget;  // for answers that are in memory until they are sent
  BucketTable address_rates;
  std::atomic<bool> draining{false};  // stop() has begun: replies close their connections
  std::atomic<bool> closing{false};   // draining is over: requests are dropped
  Tally requests;                     // requests between their headers and the end of their reply
  Tally parked;                       // connections that are suspended or being resumed
  SocketWatcher watcher;
  FairPool pool;  // runs jobs by Exchange::turn(); last: its jobs use all above
};

}  // namespace sk::http
