// Reserves an address before the server accepts connections, so a port conflict is reported before anything
// else starts. Owns its socket. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "base/fd.h"

namespace sk::http {

class Listener {
 public:
  // Binds the address. Port 0 selects any free port. Throws Error(unavailable) with the reason when it cannot
  // bind.
  Listener(std::string host, uint16_t port);

  uint16_t port() const { return port_; }
  // Starts listening and returns the socket; clients may then connect and wait to be accepted. Throws as the
  // constructor does. Call once.
  Fd listen();

 private:
  std::string host_;
  Fd socket_;
  uint16_t port_ = 0;
};

}  // namespace sk::http
