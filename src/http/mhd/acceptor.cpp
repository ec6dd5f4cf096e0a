#include "http/mhd/acceptor.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/error.h"
#include "base/log.h"

namespace sk::http {

namespace {

// Idle connections make room at once, so those that are left have requests that take their time.
constexpr int64_t kRetryAfterS = 5;

void set_option(int fd, int level, int name, int value) {
  ::setsockopt(fd, level, name, &value, sizeof value);
}

}  // namespace

Acceptor::Acceptor(Listener listener, const Options& options, Connections& connections, Handover handover)
    : options_(options),
      connections_(connections),
      handover_(std::move(handover)),
      port_(listener.port()),
      listening_(listener.listen()),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Acceptor::~Acceptor() { stop(); }

void Acceptor::start() {
  thread_ = std::thread([this] { run(); });
}

void Acceptor::stop() {
  uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(stop_.get(), &one, sizeof one);
  if (thread_.joinable()) thread_.join();
  listening_.reset();
}

void Acceptor::run() {
  std::array<pollfd, 2> wait = {pollfd{listening_.get(), POLLIN, 0}, pollfd{stop_.get(), POLLIN, 0}};
  for (;;) {
    if (::poll(wait.data(), wait.size(), -1) < 0) continue;
    if (wait[1].revents != 0) return;
    if (wait[0].revents != 0) accept_one();
  }
}

void Acceptor::accept_one() {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  Fd socket(::accept4(listening_.get(), address, &length, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) {
    if (errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS) return;
    log::warn("cannot accept a connection", {{"reason", std::system_category().message(errno)}});
    // Out of descriptors. The client stays in the kernel's queue; pause, because retrying at once would spin.
    pollfd pause{stop_.get(), POLLIN, 0};
    ::poll(&pause, 1, 100);
    return;
  }
  set_option(socket.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, options_.user_timeout_s * 1000);
  if (connections_.admit(address_text(address)) != Connections::Admission::admitted)
    return refuse(std::move(socket));
  handover_(std::move(socket), address, length);
}

void Acceptor::refuse(Fd socket) {
  if (options_.tls) return;
  static constexpr std::string_view kBody =
      R"({"error":{"code":"unavailable","message":"Too many connections are open.","hint":"Try again in a moment."}})";
  std::string reply = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: " +
                      std::to_string(kRetryAfterS) +
                      "\r\nConnection: close\r\nContent-Length: " + std::to_string(kBody.size()) +
                      "\r\n\r\n" + std::string(kBody);
  ::send(socket.get(), reply.data(), reply.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  ::shutdown(socket.get(), SHUT_WR);
  // Read what has arrived; otherwise closing would reset the connection before the client reads the reply.
  std::array<char, 4096> ignored;
  while (::recv(socket.get(), ignored.data(), ignored.size(), MSG_DONTWAIT) > 0) {
  }
}

}  // namespace sk::http
