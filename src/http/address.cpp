#include "http/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace sk::http {

namespace {

struct Block4 {
  uint32_t address;
  int bits;
};

constexpr uint32_t v4(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return a << 24 | b << 16 | c << 8 | d;
}

// Special-purpose addresses registered by IANA (RFC 6890 and later).
constexpr std::array<Block4, 16> kNotPublic4 = {{{v4(0, 0, 0, 0), 8},
                                                 {v4(10, 0, 0, 0), 8},
                                                 {v4(100, 64, 0, 0), 10},
                                                 {v4(127, 0, 0, 0), 8},
                                                 {v4(169, 254, 0, 0), 16},
                                                 {v4(172, 16, 0, 0), 12},
                                                 {v4(192, 0, 0, 0), 24},
                                                 {v4(192, 0, 2, 0), 24},
                                                 {v4(192, 88, 99, 0), 24},
                                                 {v4(192, 168, 0, 0), 16},
                                                 {v4(198, 18, 0, 0), 15},
                                                 {v4(198, 51, 100, 0), 24},
                                                 {v4(203, 0, 113, 0), 24},
                                                 {v4(224, 0, 0, 0), 4},
                                                 {v4(240, 0, 0, 0), 4},
                                                 {v4(168, 63, 129, 16), 32}}};  // Azure's host agent

bool is_public4(uint32_t address) {
  for (const auto& block : kNotPublic4) {
    uint32_t mask = ~uint32_t{0} << (32 - block.bits);
    if ((address & mask) == block.address) return false;
  }
  return true;
}

uint32_t word(const std::array<uint8_t, 16>& bytes, size_t at) {
  return v4(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]);
}

bool is_public6(const std::array<uint8_t, 16>& bytes) {
  auto starts = [&](std::initializer_list<uint8_t> prefix) {
    return std::equal(prefix.begin(), prefix.end(), bytes.begin());
  };
  // An address that embeds an IPv4 address (mapped, NAT64, 6to4) is public if that address is.
  if (starts({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff})) return is_public4(word(bytes, 12));
  if (starts({0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0})) return is_public4(word(bytes, 12));
  if (starts({0x20, 0x02})) return is_public4(word(bytes, 2));
  // Global unicast is 2000::/3. Of that, 2001::/23 is for protocols; 2001:db8::/32 and 3fff::/16 are for
  // documentation.
  if ((bytes[0] & 0xe0) != 0x20) return false;
  if (starts({0x20, 0x01}) && bytes[2] < 2) return false;
  return !starts({0x20, 0x01, 0x0d, 0xb8}) && !starts({0x3f, 0xff});
}

}  // namespace

bool is_public_address(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    sockaddr_in v4_address;
    std::memcpy(&v4_address, address, sizeof v4_address);
    return is_public4(ntohl(v4_address.sin_addr.s_addr));
  }
  if (address->sa_family != AF_INET6) return false;
  sockaddr_in6 v6_address;
  std::memcpy(&v6_address, address, sizeof v6_address);
  std::array<uint8_t, 16> bytes;
  std::memcpy(bytes.data(), v6_address.sin6_addr.s6_addr, bytes.size());
  return is_public6(bytes);
}

}  // namespace sk::http
