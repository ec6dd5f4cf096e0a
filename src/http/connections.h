// The open connections: counted for the limits, and watched for clients that take too long over their
// request's headers.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

#include "base/metrics.h"

namespace sk::http {

// One client's socket. Made when the loop takes it over, destroyed by the loop just before it closes the
// socket.
struct Connection {
  int fd = -1;
  std::string address;  // "192.0.2.1", "2001:db8::1"
  // When the wait for a request's headers began; max() while a request is under way. Written by the loop,
  // read by the sweep.
  std::atomic<std::chrono::steady_clock::rep> waiting_since{0};
  // Loop thread only: the socket's counts when the last request ended, to tell a client that left from one
  // that sent nonsense.
  struct Bytes {
    uint64_t received = 0;
    uint64_t sent = 0;
  };
  Bytes at_last_request;
  bool timed_out = false;  // in the last request
  bool explained = false;  // nothing more needs to be said before closing
};

// What the kernel knows of a socket.
struct SocketState {
  Connection::Bytes bytes;  // so far
  std::chrono::milliseconds since_received{0};
  bool client_closed = false;  // its side, perhaps with bytes before the end that nobody has read yet
  bool reset = false;          // both sides are closed
  bool client_gone() const { return client_closed || reset; }
};
SocketState socket_state(int fd);

// libmicrohttpd hears of new bytes by edge, and takes a short read for the last of what there is: an end that
// came in one event with the bytes before it goes unnoticed. When all bytes were read and the client has
// closed its side, this makes another event, in which libmicrohttpd finds the end. Any thread, with the
// socket open.
void announce_end(int fd);

// "192.0.2.1" for either family; IPv4 that arrived through an IPv6 socket is written as IPv4.
std::string address_text(const sockaddr* address);

class Connections {
 public:
  struct Limits {
    size_t total_max;
    size_t per_address_max;  // 0: none
  };
  Connections(Limits limits, Metrics& metrics);

  // Acceptor: counts one more, or says that there are too many.
  enum class Admission { admitted, too_many, too_many_of_address };
  Admission admit(const std::string& address);
  // Gives back what admit() counted.
  void leave(const std::string& address);

  void open(Connection& connection);
  void close(Connection& connection);
  // Shuts down every socket whose client has been sending headers for longer than `limit`; the loop then
  // closes it. Announces the ends that no request's own call has: those inside of headers.
  void sweep(std::chrono::seconds limit);
  size_t count() const;

 private:
  const Limits limits_;
  Gauge& gauge_;
  Counter& refused_;
  mutable std::mutex mutex_;  // guards all below
  size_t total_ = 0;
  std::map<std::string, size_t> by_address_;
  std::unordered_set<Connection*> open_;
};

}  // namespace sk::http
