// The limits of connections, with sockets but without a server.
#include "http/mhd/connections.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>

#include "base/fd.h"

namespace sk::http {
namespace {

using Admission = Connections::Admission;

class ConnectionLimits : public ::testing::Test {
 protected:
  // A connection whose client sends nothing.
  struct Client {
    Fd mine, theirs;
    Connection connection;
    // Whether the server has closed the direction from the client.
    bool is_evicted() const {
      char byte;
      return ::recv(theirs.get(), &byte, 1, MSG_DONTWAIT) == 0;
    }
  };

  static constexpr auto kBusy = std::chrono::steady_clock::time_point::max().time_since_epoch().count();
  static auto before(std::chrono::seconds time) {
    return (std::chrono::steady_clock::now() - time).time_since_epoch().count();
  }

  Client& open(Connections& connections, const std::string& address,
               std::chrono::steady_clock::rep waiting_since) {
    EXPECT_EQ(connections.admit(address), Admission::admitted);
    auto& client = clients.emplace_back();
    std::array<int, 2> pair{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
    client.mine = Fd(pair[0]);
    client.theirs = Fd(pair[1]);
    client.connection.fd = client.theirs.get();
    client.connection.address = address;
    client.connection.waiting_since = waiting_since;
    connections.open(client.connection);
    return client;
  }

  Metrics metrics;
  std::deque<Client> clients;
};

TEST_F(ConnectionLimits, TheConnectionThatWaitsLongestMakesRoom) {
  Connections connections({.total_max = 3, .per_address_max = 0}, metrics);
  auto& busy = open(connections, "192.0.2.1", kBusy);
  auto& old = open(connections, "192.0.2.1", before(std::chrono::seconds(20)));
  auto& newer = open(connections, "192.0.2.1", before(std::chrono::seconds(10)));
  EXPECT_EQ(connections.admit("192.0.2.2"), Admission::admitted);
  EXPECT_TRUE(old.is_evicted());
  EXPECT_FALSE(newer.is_evicted());
  EXPECT_EQ(connections.admit("192.0.2.2"), Admission::admitted);
  EXPECT_TRUE(newer.is_evicted());
  EXPECT_EQ(connections.admit("192.0.2.2"), Admission::too_many) << "none of the rest waits";
  EXPECT_FALSE(busy.is_evicted());
  connections.close(old.connection);
  connections.close(newer.connection);
  EXPECT_EQ(connections.count(), 3u);
  EXPECT_EQ(connections.admit("192.0.2.2"), Admission::too_many);
  connections.close(busy.connection);
  EXPECT_EQ(connections.admit("192.0.2.2"), Admission::admitted);
}

TEST_F(ConnectionLimits, TheAddressWithTheMostConnectionsMakesRoom) {
  Connections connections({.total_max = 3, .per_address_max = 0}, metrics);
  auto& oldest = open(connections, "192.0.2.1", before(std::chrono::seconds(50)));
  auto& first = open(connections, "192.0.2.2", before(std::chrono::seconds(20)));
  open(connections, "192.0.2.2", before(std::chrono::seconds(10)));
  EXPECT_EQ(connections.admit("192.0.2.3"), Admission::admitted);
  EXPECT_FALSE(oldest.is_evicted());
  EXPECT_TRUE(first.is_evicted());
}

TEST_F(ConnectionLimits, AConnectionThatHasJustBegunIsLeftAlone) {
  Connections connections({.total_max = 1, .per_address_max = 0}, metrics);
  auto& fresh = open(connections, "192.0.2.1", before(std::chrono::seconds(-10)));
  EXPECT_EQ(connections.admit("192.0.2.2"), Admission::too_many);
  EXPECT_FALSE(fresh.is_evicted());
}

TEST_F(ConnectionLimits, OneAddressHasALimitUnlessItIsAProxy) {
  Connections connections({.total_max = 100,
                           .per_address_max = 2,
                           .is_proxy = [](const std::string& address) { return address == "192.0.2.9"; }},
                          metrics);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(connections.admit("192.0.2.1"), Admission::admitted);
  EXPECT_EQ(connections.admit("192.0.2.1"), Admission::too_many_of_address);
  EXPECT_EQ(connections.admit("192.0.2.2"), Admission::admitted);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(connections.admit("192.0.2.9"), Admission::admitted);
  EXPECT_EQ(connections.count(), 13u);
}

TEST_F(ConnectionLimits, AnAddressOverItsLimitTakesNoConnectionOfOthers) {
  Connections connections({.total_max = 2, .per_address_max = 1}, metrics);
  auto& idle = open(connections, "192.0.2.1", before(std::chrono::seconds(20)));
  open(connections, "192.0.2.2", kBusy);
  EXPECT_EQ(connections.admit("192.0.2.2"), Admission::too_many_of_address);
  EXPECT_FALSE(idle.is_evicted());
}

}  // namespace
}  // namespace sk::http
