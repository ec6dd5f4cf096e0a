// Who the client is and under which address it knows us, when proxies stand between. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace sk::http {

// Addresses whose X-Forwarded-* headers are believed. Constant after construction.
class TrustedProxies {
 public:
  // Each entry is an IPv4 or IPv6 address or a CIDR block. Throws Error(bad_request) that names an entry
  // which is neither.
  explicit TrustedProxies(const std::vector<std::string>& entries);
  bool contains(std::string_view address) const;

 private:
  struct Block {
    std::array<uint8_t, 16> address;  // IPv4 mapped into IPv6
    int bits;
  };
  std::vector<Block> blocks_;
};

struct Forwarded {
  std::string remote_address;
  std::string base_url;  // "https://host:port"; empty when neither --public-url, nor a proxy, nor Host says
};

struct ForwardedFrom {
  std::string_view peer_address;  // of the socket
  std::string_view public_url;    // wins over everything; may be empty
  std::string_view scheme;        // how the peer reached us: "http" or "https"
};

// X-Forwarded-For is read from the right, as long as the address that told us is trusted, so that a client
// cannot invent its address. -Proto and -Host count only when the peer is trusted. A Host that cannot be one
// ("a b", "<script>") is ignored.
Forwarded resolve_forwarded(const TrustedProxies& proxies, const ForwardedFrom& from, const Headers& headers);

// Whether `text` can stand as host[:port] in a URL.
bool is_host(std::string_view text);

}  // namespace sk::http
