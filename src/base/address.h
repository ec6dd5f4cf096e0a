// An address of a server: where it listens, and where its clients look for it.
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

// Where a server listens that was told nothing, and where a client looks that was told nothing.
constexpr std::string_view kDefaultAddress = "127.0.0.1:8420";

}  // namespace sk
