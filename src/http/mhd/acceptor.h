// Accepts connections, enforces the connection limits, and hands sockets to the loops. Runs on its own
// thread, so a client over the limit gets a 503 instead of waiting in the kernel's queue. Owned by
// Server::Impl.
#pragma once

#include <sys/socket.h>

#include <functional>
#include <thread>

#include "base/fd.h"
#include "http/listener.h"
#include "http/mhd/connections.h"

namespace sk::http {

class Acceptor {
 public:
  // Called on the acceptor's thread with a non-blocking socket. The callee owns the socket.
  using Handover = std::function<void(Fd socket, const sockaddr* address, socklen_t length)>;

  struct Options {
    bool tls;
    int user_timeout_s;  // closes connections whose peer acknowledges nothing for this long
  };

  // Starts listening. Throws Error(unavailable) with the reason when it cannot.
  Acceptor(Listener listener, const Options& options, Connections& connections, Handover handover);
  ~Acceptor();
  uint16_t port() const { return port_; }
  // Starts accepting.
  void start();
  // Closes the listening socket and joins. Idempotent.
  void stop();

 private:
  void run();
  void accept_one();
  void refuse(Fd socket);

  const Options options_;
  Connections& connections_;
  const Handover handover_;
  const uint16_t port_;
  Fd listening_;
  Fd stop_;
  std::thread thread_;
};

}  // namespace sk::http
