// Registry of the open connections. Enforces the connection limits and closes connections that take too long
// to send request headers. Any thread may call Connections.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>

#include "base/metrics.h"
#include "base/mutex.h"

namespace sk::http {

// One client's socket. Created when the loop takes the socket over; destroyed by the loop just before it
// closes the socket.
struct Connection {
  int fd = -1;
  std::string address;  // "192.0.2.1", "2001:db8::1"
  // When the wait for request headers began; max() while a request is in progress. Written by the loop, read
  // by sweep().
  std::atomic<std::chrono::steady_clock::rep> waiting_since{0};
  // Loop thread only. Byte counts of the socket when the last request ended. They distinguish a client that
  // left from one that sent garbage.
  struct Bytes {
    uint64_t received = 0;
    uint64_t sent = 0;
  };
  Bytes at_last_request;
  bool timed_out = false;  // in the last request
  bool explained = false;  // suppresses the explanation that is sent before closing
  bool evicted = false;    // written by Connections under its mutex
};

// Socket state as reported by the kernel.
struct SocketState {
  Connection::Bytes bytes;  // totals
  std::chrono::milliseconds since_received{0};
  bool client_closed = false;  // peer sent FIN; unread bytes may precede it
  bool reset = false;          // both sides are closed
  bool client_gone() const { return client_closed || reset; }
};
SocketState socket_state(int fd);

// Makes libmicrohttpd notice the end of the stream. It uses edge-triggered events and treats a short read as
// the last one, so it misses a FIN that arrives with the final bytes. If all bytes are read and the client
// has closed its side, this triggers another event. Any thread; the socket must be open.
void announce_end(int fd);

// Formats an address of either family. IPv4-mapped IPv6 addresses are written as IPv4.
std::string address_text(const sockaddr* address);

class Connections {
 public:
  struct Limits {
    size_t total_max;
    size_t per_address_max;  // 0: no limit
    // A proxy's address is that of all its clients, so its connections only count in the total.
    std::function<bool(const std::string& address)> is_proxy = {};
  };
  Connections(Limits limits, Metrics& metrics);

  // Called by the acceptor. Counts one more connection, or reports which limit is reached. At the total
  // limit, closes a connection that waits for a request, so that idle connections of some do not lock out
  // others.
  enum class Admission { admitted, too_many, too_many_of_address };
  Admission admit(const std::string& address);
  // Reverts the count of one admit().
  void leave(const std::string& address);

  void open(Connection& connection);
  void close(Connection& connection);
  // Shuts down sockets whose client has been sending headers for longer than `limit`; the loop then closes
  // them. Also announces stream ends inside headers, which no request detects.
  void sweep(std::chrono::seconds limit);
  size_t count() const;

 private:
  bool make_room_locked() SK_REQUIRES(mutex_);

  const Limits limits_;
  Gauge& gauge_;
  Counter& refused_;
  mutable Mutex mutex_;
  size_t total_ SK_GUARDED_BY(mutex_) = 0;
  size_t leaving_ SK_GUARDED_BY(mutex_) = 0;  // of these, evicted ones that the loop has still to close
  std::map<std::string, size_t> by_address_ SK_GUARDED_BY(mutex_);
  std::unordered_set<Connection*> open_ SK_GUARDED_BY(mutex_);
};

}  // namespace sk::http
