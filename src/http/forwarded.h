// Determines the client's address and our public URL when proxies are in between. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace sk::http {

// Proxies whose X-Forwarded-* headers are trusted. Constant after construction.
class TrustedProxies {
 public:
  // Each entry is an IPv4 or IPv6 address or a CIDR block. Throws Error(bad_request), naming the entry, for
  // anything else.
  explicit TrustedProxies(const std::vector<std::string>& entries);
  bool contains(std::string_view address) const;

 private:
  struct Block {
    std::array<uint8_t, 16> address;  // IPv4 is mapped into IPv6
    int bits;
  };
  std::vector<Block> blocks_;
};

struct Forwarded {
  std::string remote_address;
  std::string base_url;  // "https://host:port"; empty when --public-url, proxies and Host are all missing
};

struct ForwardedFrom {
  std::string_view peer_address;  // of the socket
  std::string_view public_url;    // overrides everything else; may be empty
  std::string_view scheme;        // how the peer reached us: "http" or "https"
};

// Reads X-Forwarded-For from the right for as long as the reporting address is trusted, so clients cannot
// forge their address. Uses -Proto and -Host only when the peer is trusted. Ignores an invalid Host ("a b",
// "<script>").
Forwarded resolve_forwarded(const TrustedProxies& proxies, const ForwardedFrom& from, const Headers& headers);

// Returns whether `text` is valid as host[:port] in a URL.
bool is_host(std::string_view text);

}  // namespace sk::http
