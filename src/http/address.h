// Classifies network addresses as public or as local to this machine or its network. Pure functions.
#pragma once

#include <sys/socket.h>

namespace sk::http {

// Returns whether `address` is reachable on the public internet. False for loopback, private, link-local,
// shared, multicast, documentation and reserved addresses, and for IPv6 addresses that embed such an IPv4
// address. False for other address families.
bool is_public_address(const sockaddr* address);

}  // namespace sk::http
