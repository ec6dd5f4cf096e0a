#include "http/mhd/core.h"

#include <algorithm>
#include <thread>

namespace sk::http {

namespace {
// Each connection has at most one job, so the number of connections bounds the queue. A client that keeps its
// threads waiting leaves some to the others. Of its jobs, about two compute per processor: more of them would
// get nothing done, but keep the loop threads from their processor.
FairQueue::Limits limits_of(const ServerOptions& options) {
  const size_t queue_max = options.connections_max * 2;
  const size_t running_max = std::max<size_t>(1, options.worker_threads * 3 / 4);
  return {
      .running_per_key_max = running_max,
      .waiting_per_key_max = queue_max,
      .waiting_max = queue_max,
      .computing_per_key_max = std::min<size_t>(running_max, 2 * std::thread::hardware_concurrency() + 2)};
}
}  // namespace

Core::Core(ServerOptions server_options, Router server_router, Metrics& metrics)
    : options(std::move(server_options)),
      router(std::move(server_router)),
      proxies(options.trusted_proxies),
      request_metrics(metrics, router),
      connections({.total_max = options.connections_max,
                   .per_address_max = options.connections_per_address_max,
                   .is_proxy = [this](const std::string& address) { return proxies.contains(address); }},
                  metrics),
      body_budget(
          options.body_memory_bytes_max,
          metrics.gauge("sandkeep_http_body_bytes", "Bytes of request bodies that are held in memory.")),
      reply_budget(
          options.reply_memory_bytes_max,
          metrics.gauge("sandkeep_http_reply_bytes", "Bytes of large answers that are held in memory.")),
      address_rates(options.address_rate),
      pool(options.worker_threads, limits_of(options)) {}

Reply Core::error_reply(const Request& request, const Error& error) const {
  return options.error_reply ? options.error_reply(request, error) : error_to_reply(request, error);
}

Reply error_to_reply(const Request& request, const Error& error) {
  Json body = {{"code", info(error.code()).name},
               {"message", error.message()},
               {"hint", error.hint()},
               {"request_id", request.request_id}};
  for (const auto& [name, value] : error.facts())
    std::visit([&, &key = name](const auto& v) { body[key] = v; }, value);
  Reply reply = Reply::json({{"error", body}}, error.http_status());
  if (error.code() == Code::unauthorized) reply.headers.set("WWW-Authenticate", "Bearer");
  return reply;
}

RequestMetrics::RequestMetrics(Metrics& metrics, const Router& router)
    : under_way(metrics.gauge("sandkeep_http_requests_under_way",
                              "Requests between their headers and the end of their reply.")),
      received_bytes(metrics.counter("sandkeep_http_received_bytes_total", "Bytes of request bodies.")),
      sent_bytes(metrics.counter("sandkeep_http_sent_bytes_total", "Bytes of reply bodies.")),
      metrics_(metrics) {
  unmatched_.method = unmatched_.pattern = "none";
  for (size_t i = 0; i < kRefusals.size(); ++i)
    refused_[i] =
        &metrics.counter("sandkeep_http_refused_total",
                         "Requests refused for a wrong key (401), for their pace (408), size (413) or "
                         "rate (429), or because there was no room (503, 507).",
                         {{"status", std::to_string(kRefusals[i])}});
  for (const auto& route : router.routes()) {
    auto& entry = routes_[route.get()];
    entry.method = route->method;
    entry.pattern = route->pattern;
  }
}

void RequestMetrics::finished(const Router::Route* route, int status, int64_t duration_us) {
  auto& entry = route ? routes_.at(route) : unmatched_;
  auto status_class = static_cast<size_t>(std::clamp(status / 100, 0, 5));
  auto* counter = entry.by_class[status_class].load();
  if (!counter) {
    auto text = status_class == 0 ? std::string("aborted") : std::to_string(status_class) + "xx";
    counter = &metrics_.counter("sandkeep_http_requests_total", "Requests by route and class of status.",
                                {{"method", entry.method}, {"route", entry.pattern}, {"status", text}});
    entry.by_class[status_class] = counter;
  }
  counter->add();
  for (size_t i = 0; i < kRefusals.size(); ++i)
    if (kRefusals[i] == status) refused_[i]->add();
  auto* duration = entry.duration.load();
  if (!duration) {
    duration = &metrics_.histogram("sandkeep_http_request_seconds",
                                   "From a request's headers to the end of its reply.",
                                   {{"method", entry.method}, {"route", entry.pattern}});
    entry.duration = duration;
  }
  duration->observe_us(duration_us);
}

}  // namespace sk::http
