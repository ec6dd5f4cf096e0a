#include <gtest/gtest.h>

#include "http/request_head.h"

namespace sk::http {
namespace {

Request request_of(std::initializer_list<std::pair<std::string, std::string>> headers) {
  Request request;
  request.remote_address = "192.0.2.1";
  for (const auto& [name, value] : headers) request.headers.add(name, value);
  return request;
}

TEST(Turns, AreThoseOfTheCredential) {
  auto key = turn_of(request_of({{"Authorization", "Bearer a"}}));
  EXPECT_EQ(turn_of(request_of({{"authorization", "Bearer a"}})), key);
  EXPECT_NE(turn_of(request_of({{"Authorization", "Bearer b"}})), key);
  EXPECT_NE(turn_of(request_of({})), key);
}

// One key with a header that changes had as many turns as requests, and so all workers.
TEST(Turns, AreNotMultipliedByOtherHeaders) {
  auto key = turn_of(request_of({{"Authorization", "Bearer a"}}));
  EXPECT_EQ(turn_of(request_of({{"Cookie", "a=1"}, {"Authorization", "Bearer a"}})), key);
  EXPECT_EQ(turn_of(request_of({{"X-Api-Key", "x"}, {"Authorization", "Bearer a"}})), key);
}

TEST(Turns, AreThoseOfTheAddressWithoutACredential) {
  auto one = request_of({}), other = request_of({});
  EXPECT_EQ(turn_of(one), turn_of(other));
  other.remote_address = "192.0.2.2";
  EXPECT_NE(turn_of(one), turn_of(other));
}

}  // namespace
}  // namespace sk::http
