// An HTTP client over libcurl: for the command line now, for S3 and for other people's APIs later.
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
  std::chrono::seconds stall_timeout{60};      // no byte either way for so long ends it
  // Followed for GET and HEAD only, http(s) only, and from https to https only; 0 returns them. Headers go
  // along to wherever a redirect leads, so follow by hand where they hold a secret.
  int redirects_max = 5;
  int retries_max =
      2;  // connect failures, 502, 503, 504, 429; only where a repeat is harmless (GET, HEAD, PUT, DELETE)
  std::string ca_file = {};  // beside the system's
  bool insecure_tls = false;
  // For addresses that strangers chose: connects to none that only this machine or its own network can reach
  // (decided for the very address that is connected to, so that no name can lie), and uses no proxy.
  bool public_addresses_only = false;
};

struct ClientRequest {
  std::string method = "GET";
  std::string url;
  Headers headers;
  std::string body;
  // A streamed body: fills `out`, returns the count, 0 at the end. `body_size` may be unknown. With one,
  // retries need `rewind_body`.
  std::function<size_t(std::span<char> out)> body_source;
  std::optional<uint64_t> body_size;
  std::function<void()> rewind_body;
  // When set, a successful (2xx) answer's bytes go here instead of into `body`; returning false aborts.
  std::function<bool(std::string_view)> body_sink;
  // Called now and then with bytes sent and received.
  std::function<void(uint64_t sent, uint64_t received)> progress;
};

struct ClientResponse {
  int status = 0;
  Headers headers;
  std::string body;
};

// Keeps connections alive between calls. One call at a time per Client; make one per thread.
class Client {
 public:
  explicit Client(ClientOptions options = {});
  ~Client();
  // Throws Error(unavailable) when no answer came, saying why; any HTTP status is a response.
  ClientResponse send(const ClientRequest& request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sk::http
