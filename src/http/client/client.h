// HTTP client based on libcurl. A Client keeps its connections open between calls and belongs to one thread.
// Transport failures throw; every HTTP status is a response.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "http/message.h"

namespace sk::http {

struct ClientOptions {
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds total_timeout{0};  // 0: none
  std::chrono::seconds stall_timeout{60};      // fails after this long without a byte in either direction
  // Maximum number of redirects; 0 returns them to the caller. Follows only GET and HEAD, only http(s), and
  // from https only to https. Forwards all headers to the redirect target: if they hold a secret, set 0 and
  // follow redirects yourself.
  int redirects_max = 5;
  // Retries after connect failures, 429, 502, 503 and 504, and only for idempotent methods (GET, HEAD, PUT,
  // DELETE).
  int retries_max = 2;
  // Beyond that, time to follow the `Retry-After` of a 429, for every method: a server answers it before it
  // does anything.
  std::chrono::milliseconds busy_wait_max{0};
  std::function<void()> on_busy = {};  // called once per request that waits like this
  std::string ca_file = {};            // in addition to the system's
  bool insecure_tls = false;
  // For untrusted URLs: refuses addresses that only this machine or its network can reach, and uses no proxy.
  // Checks the address actually connected to, so DNS cannot bypass it.
  bool public_addresses_only = false;
};

struct ClientRequest {
  std::string method = "GET";
  std::string url;
  Headers headers;
  std::string body;
  // Streams the body: fills `out` and returns the byte count, 0 at the end. `body_size` may be unknown.
  // Retries require `rewind_body`.
  std::function<size_t(std::span<char> out)> body_source;
  std::optional<uint64_t> body_size;
  std::function<void()> rewind_body;
  // If set, receives the body of a 2xx response instead of `body`. Returning false aborts the transfer.
  std::function<bool(std::string_view)> body_sink;
  // Called periodically with the bytes sent and received.
  std::function<void(uint64_t sent, uint64_t received)> progress;
};

struct ClientResponse {
  int status = 0;
  Headers headers;
  std::string body;
};

// Reuses connections between calls. One call at a time; create one Client per thread.
class Client {
 public:
  explicit Client(ClientOptions options = {});
  ~Client();
  // Sends the request. Returns the response whatever its status. Throws Error(unavailable) with the reason
  // when there is no response.
  ClientResponse send(const ClientRequest& request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sk::http
