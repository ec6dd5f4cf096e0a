#include "http/mhd/connections.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>

#include <array>

namespace sk::http {

namespace {
constexpr uint8_t kTcpClose = 7;
constexpr uint8_t kTcpCloseWait = 8;  // TCP_CLOSE_WAIT of <netinet/tcp.h>, which excludes <linux/tcp.h>

// A connection that is younger may be about to send its request.
constexpr std::chrono::seconds kIdleBeforeEviction{1};
// libmicrohttpd's own limit is higher than ours by this.
constexpr size_t kLeavingMax = 16;
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
    : limits_(std::move(limits)),
      gauge_(metrics.gauge("sandkeep_http_connections_open", "Open client connections.")),
      refused_(metrics.counter("sandkeep_http_connections_refused_total",
                               "Connections refused because of a limit.")) {}

Connections::Admission Connections::admit(const std::string& address) {
  MutexLock lock(mutex_);
  auto& of_address = by_address_[address];
  bool is_limited = limits_.per_address_max > 0 && !(limits_.is_proxy && limits_.is_proxy(address));
  auto verdict = is_limited && of_address >= limits_.per_address_max ? Admission::too_many_of_address
                 : total_ - leaving_ >= limits_.total_max && !make_room_locked() ? Admission::too_many
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

// Chooses the connection that waits longest, of the address that has the most. Returns false when none waits.
// Closes only the direction from the client, so that an answer that is being sent arrives.
bool Connections::make_room_locked() {
  if (leaving_ >= kLeavingMax) return false;
  auto newest = (std::chrono::steady_clock::now() - kIdleBeforeEviction).time_since_epoch().count();
  Connection* chosen = nullptr;
  std::pair<size_t, std::chrono::steady_clock::rep> rank;  // the chosen one's
  for (auto* connection : open_) {
    auto since = connection->waiting_since.load();
    if (connection->evicted || since > newest) continue;
    auto of_address = by_address_.find(connection->address);
    std::pair candidate(of_address == by_address_.end() ? 0 : of_address->second, -since);
    if (chosen && candidate <= rank) continue;
    chosen = connection;
    rank = candidate;
  }
  if (!chosen) return false;
  chosen->evicted = true;
  ++leaving_;
  ::shutdown(chosen->fd, SHUT_RD);
  return true;
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
    if (connection.evicted) --leaving_;
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
