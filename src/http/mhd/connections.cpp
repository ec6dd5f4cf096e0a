#include "http/mhd/connections.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>

#include <array>

namespace sk::http {

namespace {
constexpr uint8_t kTcpClose = 7;
constexpr uint8_t kTcpCloseWait = 8;  // TCP_CLOSE_WAIT of <netinet/tcp.h>, which excludes <linux/tcp.h>
}  // namespace

std::string address_text(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address->sa_family == AF_INET) {
    auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    ::inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
  } else if (address->sa_family == AF_INET6) {
    auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
    if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
      ::inet_ntop(AF_INET, v6->sin6_addr.s6_addr + 12, text.data(), text.size());
    else
      ::inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
  }
  return text.data();
}

SocketState socket_state(int fd) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return {};
  return {.bytes = {info.tcpi_bytes_received, info.tcpi_bytes_sent},
          .since_received = std::chrono::milliseconds(info.tcpi_last_data_recv),
          .client_closed = info.tcpi_state == kTcpCloseWait,
          .reset = info.tcpi_state == kTcpClose};
}

void announce_end(int fd) {
  char next;
  // The read side is already at its end, so shutting it down only wakes its waiter.
  if (::recv(fd, &next, 1, MSG_PEEK | MSG_DONTWAIT) == 0) ::shutdown(fd, SHUT_RD);
}

Connections::Connections(Limits limits, Metrics& metrics)
    : limits_(limits),
      gauge_(metrics.gauge("sandkeep_http_connections_open", "Open client connections.")),
      refused_(metrics.counter("sandkeep_http_connections_refused_total",
                               "Connections refused because of a limit.")) {}

Connections::Admission Connections::admit(const std::string& address) {
  MutexLock lock(mutex_);
  auto& of_address = by_address_[address];
  auto verdict = total_ >= limits_.total_max ? Admission::too_many
                 : limits_.per_address_max > 0 && of_address >= limits_.per_address_max
                     ? Admission::too_many_of_address
                     : Admission::admitted;
  if (verdict == Admission::admitted) {
    ++of_address;
    ++total_;
    gauge_.add(1);
  } else {
    if (of_address == 0) by_address_.erase(address);
    refused_.add();
  }
  return verdict;
}

void Connections::leave(const std::string& address) {
  MutexLock lock(mutex_);
  auto found = by_address_.find(address);
  if (found == by_address_.end()) return;
  if (--found->second == 0) by_address_.erase(found);
  --total_;
  gauge_.add(-1);
}

void Connections::open(Connection& connection) {
  MutexLock lock(mutex_);
  open_.insert(&connection);
}

void Connections::close(Connection& connection) {
  {
    MutexLock lock(mutex_);
    open_.erase(&connection);
  }
  leave(connection.address);
}

void Connections::sweep(std::chrono::seconds limit) {
  auto oldest = (std::chrono::steady_clock::now() - limit).time_since_epoch().count();
  MutexLock lock(mutex_);
  // Sockets in the set are open: the loop removes a connection before closing it.
  for (auto* connection : open_) {
    announce_end(connection->fd);
    if (connection->waiting_since.load() < oldest) ::shutdown(connection->fd, SHUT_RDWR);
  }
}

size_t Connections::count() const {
  MutexLock lock(mutex_);
  return total_;
}

}  // namespace sk::http
