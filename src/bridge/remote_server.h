// An HTTP client for one remote server. Retries temporary failures with exponential backoff. Follows
// redirects, but sends the key to no other host. Private addresses are refused unless allowed.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "bridge/patience.h"
#include "http/client/client.h"

namespace sk::bridge {

// Fields without a default are settings; the server's settings table has their defaults.
struct RemoteOptions {
  bool allow_private;
  int attempts_max;
  std::chrono::seconds stall;
  std::chrono::milliseconds first_pause{250};
  std::chrono::seconds longest_pause{20};  // also caps the time of a Retry-After
};

// Whether a redirect to `url` may be followed in a job for `origin`. Only http and https are allowed, and no
// downgrade from https to http unless the operator allows private addresses.
bool may_follow(std::string_view origin, const std::string& url, const RemoteOptions& options);

// Receives a body. begin() starts a new attempt and discards earlier bytes.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void begin() = 0;
  virtual void write(std::string_view bytes) = 0;
};

struct RemoteAnswer {
  int status = 0;       // 0: no response
  std::string body;     // of a failure, or of a success without a sink
  std::string problem;  // a sentence if it is not a success; never contains the key

  bool ok() const { return status >= 200 && status < 300; }
};

// One thread. `patience` outlives it.
class RemoteServer {
 public:
  // Sends `credentials` to the origin of `base_url` only. Removes `secret` from reported text.
  RemoteServer(RemoteOptions options, const std::string& base_url, http::Headers credentials,
               std::string secret, Patience& patience);

  // Sends a GET request. With a sink, the body of a success goes there; exceptions of the sink propagate.
  // Without a sink, a body of more than 16 MiB is a failure.
  RemoteAnswer get(const std::string& url, ByteSink* sink = nullptr);

 private:
  struct Attempt {
    RemoteAnswer answer;
    std::chrono::milliseconds asked_pause{0};
    bool worth_another = false;
  };
  Attempt attempt(std::string url, ByteSink* sink);
  http::ClientResponse send(const std::string& url, ByteSink* sink);
  std::string explain(const http::ClientResponse& response) const;
  std::string without_secret(std::string text) const;

  const RemoteOptions options_;
  const std::string origin_;
  const http::Headers credentials_;
  const std::string secret_;
  Patience& patience_;
  http::Client client_;
};

}  // namespace sk::bridge
