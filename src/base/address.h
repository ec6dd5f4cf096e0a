// Network address of a server, used both to listen and to connect.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sk {

struct Address {
  std::string host;  // without the brackets of IPv6
  uint16_t port = 0;
  bool operator==(const Address&) const = default;
};

// Default address: servers listen here and clients connect here unless configured otherwise.
constexpr std::string_view kDefaultAddress = "127.0.0.1:8420";

}  // namespace sk
