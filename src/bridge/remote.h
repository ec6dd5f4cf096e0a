// One server of somebody else, called politely: what failed for a moment is tried again after a longer and
// longer pause, redirects are followed without handing the key to another host, and no address of our own
// network is called unless that is allowed.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "bridge/patience.h"
#include "http/client.h"

namespace sk::bridge {

// The fields without a value here are settings; their defaults are in the server's table.
struct RemoteOptions {
  bool allow_private;
  int attempts_max;
  std::chrono::seconds stall;
  std::chrono::milliseconds first_pause{250};
  std::chrono::seconds longest_pause{20};  // also of what a Retry-After asks for
};

// Whether a redirect to `url` is followed in a job that began at `origin`: only to a web address, and not
// from an encrypted one to a plain one, unless the operator allowed addresses of our own network.
bool may_follow(std::string_view origin, const std::string& url, const RemoteOptions& options);

// Where a body goes. begin() forgets what came before: another attempt starts.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void begin() = 0;
  virtual void write(std::string_view bytes) = 0;
};

struct RemoteAnswer {
  int status = 0;       // 0: none came
  std::string body;     // of a failure, or of a success without a sink
  std::string problem;  // a sentence where it is not a success; without any key

  bool ok() const { return status >= 200 && status < 300; }
};

// One thread. `patience` outlives it.
class Remote {
 public:
  // `credentials` are sent to the origin of `base_url` only. `secret` is blotted out of what is reported.
  Remote(RemoteOptions options, const std::string& base_url, http::Headers credentials, std::string secret,
         Patience& patience);

  // GET. With a sink the bytes of a success go there; what the sink throws is passed on. Without one, a
  // success of more than 16 MiB is a failure.
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
