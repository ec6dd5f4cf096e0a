// A server on a free port with a few routes, and events that tests can wait for.
#pragma once

#include <condition_variable>
#include <mutex>

#include "http/server.h"
#include "raw_client.h"

namespace sk::http::testing {

// Something that happens on another thread, awaited with a limit.
class Flag {
 public:
  void raise() {
    std::lock_guard lock(mutex_);
    raised_ = true;
    changed_.notify_all();
  }
  bool await() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(kPatienceMs), [this] { return raised_; });
  }
  void lower() {
    std::lock_guard lock(mutex_);
    raised_ = false;
  }
  bool raised() {
    std::lock_guard lock(mutex_);
    return raised_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool raised_ = false;
};

class ServerTest : public ::testing::Test {
 protected:
  // Tests add their routes and options first.
  Router router;
  ServerOptions options = defaults();
  Metrics metrics;

  static ServerOptions defaults() {
    return {.host = "127.0.0.1",
            .port = 0,
            .tls_cert_pem = "",
            .tls_key_pem = "",
            .hsts = false,
            .public_url = "",
            .trusted_proxies = {},
            .loop_threads = 2,
            .worker_threads = 4,
            .connections_max = 4096,
            .connections_per_address_max = 0,
            .address_rate = {},
            .header_bytes_max = 32 << 10,
            .idle_timeout_s = 60,
            .body_memory_bytes_max = 256 << 20,
            .reply_memory_bytes_max = 256 << 20,
            .body_pace = {},
            .event_heartbeat_s = 15,
            .event_buffer_bytes_max = 4 << 20,
            .log_requests = true,
            .cors_origins = {},
            .loggable_path = {},
            .error_reply = {}};
  }
  void start() {
    options.worker_threads = 4;
    server = std::make_unique<Server>(options, std::move(router), metrics);
  }
  uint16_t port() { return server->port(); }
  // Before the members that handlers use are gone.
  void TearDown() override { server.reset(); }

  std::unique_ptr<Server> server;
};

}  // namespace sk::http::testing
