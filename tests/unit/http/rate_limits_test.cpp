// Token buckets, their table of bounded size, and what the server tells clients about them.
#include "http/rate_limits.h"

#include <gtest/gtest.h>

#include <random>

#include "server_fixture.h"
#include "support/property.h"

namespace sk::http {
namespace {

using namespace std::chrono_literals;
using testing::RawClient;
using testing::ServerTest;

constexpr BucketTable::Time kStart{1h};

TEST(BucketTable, ABurstIsAdmittedAndThenTheRate) {
  BucketTable table({.per_s = 2, .burst = 5});
  auto key = bucket_of_address("192.0.2.1");
  for (uint64_t left = 5; left-- > 0;) {
    auto state = table.take(key, kStart);
    EXPECT_TRUE(state.admitted);
    EXPECT_EQ(state.remaining, left);
  }
  auto refused = table.take(key, kStart);
  EXPECT_FALSE(refused.admitted);
  EXPECT_EQ(refused.retry_after_s, 1) << "half a second, in whole seconds";
  EXPECT_EQ(refused.full_after_s, 3);
  EXPECT_FALSE(table.take(key, kStart + 499ms).admitted);
  EXPECT_TRUE(table.take(key, kStart + 500ms).admitted) << "what was refused took nothing";
  EXPECT_FALSE(table.take(key, kStart + 500ms).admitted);
  EXPECT_EQ(table.look(key, kStart + 1h).remaining, 5u) << "no more than the burst";
}

TEST(BucketTable, WhoWaitsAsLongAsItIsToldIsAdmitted) {
  for (double per_s : {20.0 / 60, 1.0 / 3, 0.1, 0.7, 3.0, 1000.0}) {
    BucketTable table({.per_s = per_s, .burst = 1});
    auto now = kStart;
    EXPECT_TRUE(table.take({}, now).admitted);
    for (int i = 0; i < 100; ++i) {
      auto refused = table.take({}, now);
      EXPECT_FALSE(refused.admitted) << per_s;
      EXPECT_GE(refused.retry_after_s, 1);
      now += std::chrono::seconds(refused.retry_after_s);
      EXPECT_TRUE(table.take({}, now).admitted) << per_s;
      while (table.take({}, now).admitted) {
      }
    }
  }
}

TEST(BucketTable, ALookTakesNothingAndMakesNoRow) {
  BucketTable table({.per_s = 1, .burst = 1});
  EXPECT_FALSE(table.is_used());
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(table.look({1, 1}, kStart).admitted);
  EXPECT_EQ(table.rows(), 0u);
  table.take({1, 1}, kStart);
  EXPECT_TRUE(table.is_used());
  EXPECT_FALSE(table.look({1, 1}, kStart).admitted);
  EXPECT_TRUE(table.look({2, 1}, kStart).admitted);
  EXPECT_EQ(table.rows(), 1u);
}

TEST(BucketTable, AClockThatStandsStillOrGoesBackGivesNothing) {
  BucketTable table({.per_s = 1, .burst = 1});
  EXPECT_TRUE(table.take({}, kStart).admitted);
  EXPECT_FALSE(table.take({}, kStart - 1h).admitted);
  EXPECT_FALSE(table.take({}, kStart).admitted);
  EXPECT_TRUE(table.take({}, kStart + 1s).admitted);
}

TEST(BucketTable, StrangersWithoutEndTakeNoMoreRows) {
  BucketTable table({.per_s = 1, .burst = 10}, 64);
  for (uint64_t i = 0; i < 10'000; ++i) table.take({i, i * i}, kStart);
  EXPECT_EQ(table.rows(), 64u);
}

TEST(BucketTable, TheLeastRecentlyUsedMakesRoom) {
  BucketTable table({.per_s = 1, .burst = 2}, 3);
  for (uint64_t one : {1, 2, 3}) table.take({one, 0}, kStart);
  table.take({1, 0}, kStart);        // empty, and the newest
  table.take({4, 0}, kStart + 10s);  // takes the row of 2, which is full by now
  EXPECT_EQ(table.look({4, 0}, kStart + 10s).remaining, 1u);
  table.take({1, 0}, kStart + 10s);
  EXPECT_EQ(table.look({1, 0}, kStart + 10s).remaining, 1u) << "it kept its row";
}

TEST(BucketTable, MoreStrangersThanRowsHaveTogetherWhatTheRowsAllow) {
  BucketTable table({.per_s = 1, .burst = 5}, 8);
  uint64_t admitted = 0;
  for (uint64_t i = 0; i < 10'000; ++i) admitted += table.take({i, 0}, kStart).admitted ? 1 : 0;
  EXPECT_EQ(admitted, 8u * 5u);
}

// The table does what one bucket per key would do, as long as there is a row for each.
RC_GTEST_PROP(BucketTableProperty, EveryKeyHasItsOwnBucket, (uint32_t seed)) {
  std::mt19937 random(seed);
  RateOptions options{.per_s = 1.0 + random() % 5, .burst = 1.0 + random() % 7};
  BucketTable table(options, 16);
  struct Model {
    double units;
    BucketTable::Time at;
  };
  std::map<uint64_t, Model> models;
  auto now = kStart;
  for (int i = 0; i < 400; ++i) {
    now += std::chrono::milliseconds(random() % 300);
    uint64_t key = random() % 16;
    auto& model = models.try_emplace(key, Model{options.burst, now}).first->second;
    std::chrono::duration<double> elapsed = now - model.at;
    model = {std::min(options.burst, model.units + elapsed.count() * options.per_s), now};
    // Where the sums of fractions are as near to a unit as this, both answers are right.
    if (std::abs(model.units - 1) < 1e-5) return;
    bool expected = model.units >= 1;
    if (expected) model.units -= 1;
    RC_ASSERT(table.take({key << 32, key}, now).admitted == expected);
  }
}

TEST(BucketKeys, AnAddressOfIPv4AndANetworkOfIPv6HaveOneBucketEach) {
  EXPECT_EQ(bucket_of_address("192.0.2.1"), bucket_of_address("::ffff:192.0.2.1"));
  EXPECT_NE(bucket_of_address("192.0.2.1"), bucket_of_address("192.0.2.2"));
  EXPECT_EQ(bucket_of_address("2001:db8:1:2::1"), bucket_of_address("2001:db8:1:2:ffff::9"));
  EXPECT_NE(bucket_of_address("2001:db8:1:2::1"), bucket_of_address("2001:db8:1:3::1"));
  EXPECT_NE(bucket_of_address("0.0.0.0"), bucket_of_address("::"));
  EXPECT_EQ(bucket_of_address("nonsense"), bucket_of_address(std::string(1000, '1')));
  EXPECT_TRUE(is_loopback_address("127.9.9.9"));
  EXPECT_TRUE(is_loopback_address("::1"));
  EXPECT_TRUE(is_loopback_address("::ffff:127.0.0.1"));
  EXPECT_FALSE(is_loopback_address("128.0.0.1"));
  EXPECT_FALSE(is_loopback_address(""));
}

TEST(RateHeaders, ARequestNamesEachLimitThatItCountsFor) {
  Request request;
  Headers none;
  add_rate_headers(request, none);
  EXPECT_TRUE(none.all().empty());
  BucketTable keys({.per_s = 5, .burst = 50}), principals({.per_s = 1, .burst = 2}), off({});
  count_request(request, "address", off, {}, kStart);
  count_request(request, "key", keys, {}, kStart);
  count_request(request, "principal", principals, {}, kStart);
  Headers headers;
  add_rate_headers(request, headers);
  EXPECT_EQ(headers.get("RateLimit"), "\"key\";r=49;t=1, \"principal\";r=1;t=1");
  EXPECT_EQ(headers.get("RateLimit-Policy"), "\"key\";q=50;w=10, \"principal\";q=2;w=2");
  EXPECT_FALSE(headers.has("Retry-After"));
}

TEST(RateHeaders, ARefusedRequestIsToldWhenToComeBack) {
  BucketTable table({.per_s = 0.25, .burst = 1});
  table.take({}, kStart);
  Request request;
  try {
    count_request(request, "key", table, {}, kStart);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::too_many_requests);
  }
  Headers headers;
  add_rate_headers(request, headers);
  EXPECT_EQ(headers.get("Retry-After"), "4");
  EXPECT_EQ(headers.get("RateLimit"), "\"key\";r=0;t=4");
}

class AddressRateTest : public ServerTest {
 protected:
  AddressRateTest() {
    auto answer = [](Request&) { return Reply::text("here"); };
    router.add("GET", "/", answer);
    router.add("GET", "/health", answer, {.counts = RouteOptions::Counts::no});
    options.trusted_proxies = {"127.0.0.1"};
  }
  static testing::RawReply ask(RawClient& client, const std::string& path, const std::string& from) {
    client.send("GET " + path + " HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: " + from + "\r\n\r\n");
    return client.read_reply();
  }
};

TEST_F(AddressRateTest, OneAddressIsRefusedAndOthersAreNot) {
  options.address_rate = {.per_s = 0.001, .burst = 3};
  start();
  RawClient client(port());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ask(client, "/", "2001:db8::1").status, 200);
  EXPECT_EQ(ask(client, "/nowhere", "2001:db8::2").status, 404) << "counts, too";
  auto refused = ask(client, "/", "2001:db8::3");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.header("ratelimit"), "\"address\";r=0;t=" + refused.header("retry-after"));
  EXPECT_NEAR(std::stoi("0" + refused.header("retry-after")), 1000, 100);
  EXPECT_EQ(refused.header("ratelimit-policy"), "\"address\";q=3;w=3000");
  EXPECT_EQ(ask(client, "/nowhere", "2001:db8::1").status, 429);
  auto health = ask(client, "/health", "2001:db8::1");
  EXPECT_EQ(health.status, 200);
  EXPECT_EQ(health.header("ratelimit"), "");
  auto other = ask(client, "/", "2001:db8:0:1::1");
  EXPECT_EQ(other.status, 200);
  EXPECT_EQ(other.header("ratelimit"), "\"address\";r=2;t=1000");
}

TEST_F(AddressRateTest, WithoutALimitNobodyIsToldOfOne) {
  start();
  RawClient client(port());
  for (int i = 0; i < 50; ++i) {
    auto reply = ask(client, "/", "192.0.2.1");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.header("ratelimit"), "");
  }
}

TEST_F(AddressRateTest, AScreenedRequestCostsNoHandler) {
  std::atomic<int> handled = 0;
  router.add("POST", "/screened",
             [&](Request&) {
               ++handled;
               return Reply::text("in");
             },
             {.screen = [](Request& request) {
               if (!request.headers.has("X-Right")) throw Error(Code::too_many_requests, "No.");
             }});
  start();
  RawClient client(port());
  client.send("POST /screened HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_EQ(client.read_reply().status, 429);
  client.send("POST /screened HTTP/1.1\r\nHost: a\r\nX-Right: 1\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_EQ(client.read_reply().status, 200);
  EXPECT_EQ(handled, 1);
}

}  // namespace
}  // namespace sk::http
