// Which addresses belong to everybody and which only to this machine or its own network. Pure functions.
#pragma once

#include <sys/socket.h>

namespace sk::http {

// Whether `address` can be reached on the public internet: neither loopback, private, link-local, shared,
// multicast, documentation nor reserved, also when such an IPv4 address is wrapped in an IPv6 one. False for
// other families.
bool is_public_address(const sockaddr* address);

}  // namespace sk::http
