#include "http/listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include "base/error.h"

namespace sk::http {

namespace {

constexpr int kBacklog = 1024;

void switch_option(int fd, int level, int name, int value) {
  ::setsockopt(fd, level, name, &value, sizeof value);
}

Advice advice_on(int err) {
  if (err == EADDRINUSE) return Advice::choose_other_port;
  if (err == EACCES) return Advice::choose_higher_port;
  return Advice::choose_own_address;
}

Error cannot_listen(const std::string& host, uint16_t port, int err) {
  return Error(Code::unavailable, "cannot listen on " + host + ":" + std::to_string(port) + ": " +
                                      std::system_category().message(err))
      .advise(advice_on(err))
      .with("host", host);
}

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

AddressList resolve_host(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  int status =
      ::getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (status != 0)
    throw Error(Code::unavailable, "cannot listen on " + host + ": " + ::gai_strerror(status))
        .advise(Advice::choose_own_address);
  return {found, &::freeaddrinfo};
}

// Returns an invalid Fd and sets errno on failure.
Fd bind_to(const addrinfo& address) {
  Fd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fd;
  switch_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.ai_family == AF_INET6) switch_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (::bind(fd.get(), address.ai_addr, address.ai_addrlen) != 0) {
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

Listener::Listener(std::string host, uint16_t port) : host_(std::move(host)) {
  auto addresses = resolve_host(host_, port);
  int err = 0;
  // IPv4 first, so every client can reach "localhost".
  for (int family : {AF_INET, AF_INET6}) {
    for (auto* address = addresses.get(); address && !socket_; address = address->ai_next) {
      if (address->ai_family != family) continue;
      socket_ = bind_to(*address);
      if (!socket_) err = errno;
    }
  }
  if (!socket_) throw cannot_listen(host_, port, err);
  port_ = port_of(socket_.get());
}

Fd Listener::listen() {
  // Two programs can bind the same port, but only one can listen on it.
  if (::listen(socket_.get(), kBacklog) != 0) throw cannot_listen(host_, port_, errno);
  return std::move(socket_);
}

}  // namespace sk::http
