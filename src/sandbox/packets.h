// Packets and descriptors exchanged between the server and its child processes: the C++ interface to
// inside/wire.h.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "sandbox/inside/wire.h"

namespace sk::sandbox {

struct Pair {
  Fd ours;
  Fd theirs;
};

// Create close-on-exec descriptors. `theirs` of a pipe is the write end. Throw Error(internal), for example
// when descriptors run out.
Pair packet_sockets();
Pair stream_sockets();
Pair output_pipe();

// Returns false when the peer is gone.
[[nodiscard]] bool send_packet(int socket, const void* packet, size_t bytes, std::span<const int> fds = {});
template <class T>
[[nodiscard]] bool send_packet(int socket, const T& packet, std::span<const int> fds = {}) {
  return send_packet(socket, &packet, sizeof packet, fds);
}

// Receives one packet of exactly `bytes`. `timeout_ms` < 0 waits forever. Returns false on timeout, on
// another size, or when the peer is gone.
[[nodiscard]] bool receive_packet(int socket, void* packet, size_t bytes, std::vector<Fd>& fds,
                                  int timeout_ms);
template <class T>
[[nodiscard]] bool receive_packet(int socket, T& packet, std::vector<Fd>& fds, int timeout_ms) {
  return receive_packet(socket, &packet, sizeof packet, fds, timeout_ms);
}

// Returns text such as "cannot mount /proc: Operation not permitted".
std::string describe(const sk_fault& fault);

// Waits until `fd` is readable (for a pidfd: until its process has ended). Returns false after `timeout_ms`.
[[nodiscard]] bool wait_readable(int fd, int timeout_ms);

}  // namespace sk::sandbox
