#include "http/acceptor.h"

#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <system_error>

#include "base/error.h"
#include "base/log.h"

namespace sk::http {

namespace {

constexpr int kBacklog = 1024;

void set_option(int fd, int level, int name, int value) {
  ::setsockopt(fd, level, name, &value, sizeof value);
}

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

AddressList resolve(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  int status =
      ::getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (status != 0) throw Error(Code::unavailable, "cannot listen on " + host + ": " + ::gai_strerror(status));
  return {found, &::freeaddrinfo};
}

// An invalid Fd with errno when it does not work.
Fd listen_on(const addrinfo& address) {
  Fd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fd;
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.ai_family == AF_INET6) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (::bind(fd.get(), address.ai_addr, address.ai_addrlen) != 0 || ::listen(fd.get(), kBacklog) != 0) {
    int err = errno;
    fd.reset();
    errno = err;
  }
  return fd;
}

uint16_t port_of(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  auto* v4 = reinterpret_cast<const sockaddr_in*>(&address);
  auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address);
  return ntohs(address.ss_family == AF_INET ? v4->sin_port : v6->sin6_port);
}

}  // namespace

Acceptor::Acceptor(const Options& options, Connections& connections, Handover handover)
    : options_(options),
      connections_(connections),
      handover_(std::move(handover)),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  auto addresses = resolve(options.host, options.port);
  int err = 0;
  // IPv4 first: "localhost" should be where every client finds it.
  for (int family : {AF_INET, AF_INET6}) {
    for (auto* address = addresses.get(); address && !listening_; address = address->ai_next) {
      if (address->ai_family != family) continue;
      listening_ = listen_on(*address);
      if (!listening_) err = errno;
    }
  }
  if (!listening_)
    throw Error(Code::unavailable, "cannot listen on " + options.host + ":" + std::to_string(options.port) +
                                       ": " + std::system_category().message(err));
  port_ = port_of(listening_.get());
}

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
    // Out of descriptors: the client stays in the kernel's queue. Asking again at once would only spin.
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
  std::string reply =
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\nConnection: "
      "close\r\nContent-Length: " +
      std::to_string(kBody.size()) + "\r\n\r\n" + std::string(kBody);
  ::send(socket.get(), reply.data(), reply.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  ::shutdown(socket.get(), SHUT_WR);
  // What has arrived is read, or closing would reset the connection under the reply.
  std::array<char, 4096> ignored;
  while (::recv(socket.get(), ignored.data(), ignored.size(), MSG_DONTWAIT) > 0) {
  }
}

}  // namespace sk::http
