#include "sandbox/packets.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/error.h"

extern "C" {
#include "sandbox/inside/common.h"
}

namespace sk::sandbox {

namespace {

Pair socket_pair(int type) {
  int ends[2];
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0)
    throw system_error("cannot make a socket", errno);
  return {Fd(ends[0]), Fd(ends[1])};
}

}  // namespace

Pair packet_sockets() { return socket_pair(SOCK_SEQPACKET); }
Pair stream_sockets() { return socket_pair(SOCK_STREAM); }

Pair output_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw system_error("cannot make a pipe", errno);
  return {Fd(ends[0]), Fd(ends[1])};
}

bool send_packet(int socket, const void* packet, size_t bytes, std::span<const int> fds) {
  return sk_send(socket, packet, bytes, fds.data(), static_cast<int>(fds.size())) == 0;
}

bool receive_packet(int socket, void* packet, size_t bytes, std::vector<Fd>& fds, int timeout_ms) {
  fds.clear();
  if (!wait_readable(socket, timeout_ms)) return false;
  int received[SK_FDS_MAX];
  int count = SK_FDS_MAX;
  auto got = sk_receive(socket, packet, bytes, received, &count);
  for (int i = 0; i < count; ++i) fds.emplace_back(received[i]);
  return got == static_cast<ssize_t>(bytes);
}

std::string describe(const sk_fault& fault) {
  static constexpr const char* kTexts[] = {
#define SK_STEP(name, text) text,
#include "sandbox/inside/steps.def"
#undef SK_STEP
  };
  bool known = fault.step > 0 && fault.step < SK_STEP_count;
  return std::string("cannot ") + (known ? kTexts[fault.step] : "go on") + ": " + std::strerror(fault.err);
}

bool wait_readable(int fd, int timeout_ms) {
  using Clock = std::chrono::steady_clock;
  auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  int left_ms = timeout_ms;
  for (;;) {
    pollfd wait{fd, POLLIN, 0};
    int ready = ::poll(&wait, 1, left_ms);
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return false;
    if (timeout_ms < 0) continue;
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    left_ms = left > 0 ? static_cast<int>(left) : 0;
  }
}

}  // namespace sk::sandbox
