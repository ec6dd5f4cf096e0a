#include "http/address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>
#include <string>

#include "base/error.h"
#include "http/client/client.h"

namespace sk::http {
namespace {

bool is_public(const std::string& text) {
  sockaddr_storage storage{};
  auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
  if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    storage.ss_family = AF_INET;
  } else {
    EXPECT_EQ(::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr), 1) << text;
    storage.ss_family = AF_INET6;
  }
  return is_public_address(reinterpret_cast<sockaddr*>(&storage));
}

TEST(PublicAddress, IsWhatTheInternetCanReach) {
  for (const char* text :
       {"1.1.1.1", "8.8.8.8", "172.15.255.255", "172.32.0.1", "100.63.0.1", "2606:4700::1111",
        "2a00:1450:4001::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"})
    EXPECT_TRUE(is_public(text)) << text;
}

TEST(PublicAddress, IsNothingOfOurOwn) {
  for (const char* text : {"127.0.0.1",
                           "127.255.255.254",
                           "0.0.0.0",
                           "10.1.2.3",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.168.1.1",
                           "169.254.169.254",
                           "100.64.0.1",
                           "198.18.0.1",
                           "224.0.0.1",
                           "255.255.255.255",
                           "192.0.0.170",
                           "168.63.129.16",
                           "::",
                           "::1",
                           "fe80::1",
                           "fc00::1",
                           "fd00:ec2::254",
                           "ff02::1",
                           "::ffff:127.0.0.1",
                           "::ffff:10.0.0.1",
                           "64:ff9b::7f00:1",
                           "2002:7f00:1::",
                           "::127.0.0.1",
                           "2001:db8::1",
                           "2001::1",
                           "::ffff:169.254.169.254",
                           "fec0::1",
                           "64:ff9b:1::1"})
    EXPECT_FALSE(is_public(text)) << text;
}

TEST(PublicAddress, AClientForForeignAddressesConnectsToNothingElse) {
  ClientOptions options;
  options.public_addresses_only = true;
  Client client(options);
  for (const char* url : {"http://127.0.0.1:9/", "http://localhost:9/", "http://[::1]:9/", "http://0x7f.1:9/",
                          "http://2130706433:9/", "http://169.254.169.254/latest/meta-data/"}) {
    ClientRequest request;
    request.url = url;
    try {
      client.send(request);
      ADD_FAILURE() << url;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::forbidden) << url << ": " << error.message();
    }
  }
}

}  // namespace
}  // namespace sk::http
