// An address that is taken, before anybody is let in: a server that cannot have its port should say so before
// it starts anything else. One thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/fd.h"

namespace sk::http {

class Listener {
 public:
  // Binds at once: throws Error(unavailable) that says why it cannot. Port 0: any free one.
  Listener(std::string host, uint16_t port);

  uint16_t port() const { return port_; }
  // From here on clients may connect, and wait to be accepted. Throws as the constructor does. Once.
  Fd listen();

 private:
  std::string host_;
  Fd socket_;
  uint16_t port_ = 0;
};

}  // namespace sk::http
