// Packets and descriptors between the server and the processes that it starts: the C++ face of inside/wire.h.
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

// Close-on-exec. `theirs` of a pipe is the end that is written to. Throw Error(internal), as when descriptors
// run out.
Pair packet_sockets();
Pair stream_sockets();
Pair output_pipe();

// False when the other side is gone.
[[nodiscard]] bool send_packet(int socket, const void* packet, size_t bytes, std::span<const int> fds = {});
template <class T>
[[nodiscard]] bool send_packet(int socket, const T& packet, std::span<const int> fds = {}) {
  return send_packet(socket, &packet, sizeof packet, fds);
}

// One packet of exactly `bytes`. `timeout_ms` < 0 waits for ever. False when it does not come, is of another
// size, or the other side is gone.
[[nodiscard]] bool receive_packet(int socket, void* packet, size_t bytes, std::vector<Fd>& fds,
                                  int timeout_ms);
template <class T>
[[nodiscard]] bool receive_packet(int socket, T& packet, std::vector<Fd>& fds, int timeout_ms) {
  return receive_packet(socket, &packet, sizeof packet, fds, timeout_ms);
}

// "cannot mount /proc: Operation not permitted"
std::string describe(const sk_fault& fault);

// Waits until `fd` is readable (a pidfd: its process has ended). False after `timeout_ms`.
[[nodiscard]] bool wait_readable(int fd, int timeout_ms);

}  // namespace sk::sandbox
