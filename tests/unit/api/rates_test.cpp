// Addresses that try wrong keys, and keys that send too many requests.
#include "api/common/rates.h"

#include <gtest/gtest.h>

#include "api/common/authenticate.h"
#include "app_fixture.h"

namespace sk::api {
namespace {

using namespace std::chrono_literals;

DialectSettings with_wrong_keys(uint64_t per_min) {
  DialectSettings out{};
  out.wrong_keys_per_min = per_min;
  return out;
}

http::Request from(const std::string& address) {
  http::Request request;
  request.remote_address = address;
  return request;
}

class WrongKeysTest : public testing::Test {
 protected:
  void try_keys(const std::string& address, int count) {
    for (int i = 0; i < count; ++i) rates.note_wrong_key(from(address), now);
  }
  bool is_slowed(const std::string& address) { return rates.is_slowed(from(address), now); }

  Rates rates{with_wrong_keys(20)};
  Rates::Time now{1h};
};

TEST_F(WrongKeysTest, AnAddressIsSlowedDownAfterTheLimitAndOthersAreNot) {
  EXPECT_FALSE(is_slowed("192.0.2.1"));
  try_keys("192.0.2.1", 19);
  EXPECT_FALSE(is_slowed("192.0.2.1"));
  try_keys("192.0.2.1", 1);
  EXPECT_TRUE(is_slowed("192.0.2.1"));
  EXPECT_FALSE(is_slowed("192.0.2.2"));
}

TEST_F(WrongKeysTest, AnotherTryIsPossibleAfterTheTimeThatIsTold) {
  try_keys("192.0.2.1", 1000);
  auto request = from("192.0.2.1");
  auto error = rates.too_many_wrong_keys(request, now);
  EXPECT_EQ(error.code(), Code::too_many_requests);
  EXPECT_EQ(request.retry_after_s, 3);
  EXPECT_EQ(request.rate_limit, "\"wrong-keys\";r=0;t=3");
  now += 2900ms;
  EXPECT_TRUE(is_slowed("192.0.2.1"));
  now += 100ms;
  EXPECT_FALSE(is_slowed("192.0.2.1"));
  try_keys("192.0.2.1", 1);
  EXPECT_TRUE(is_slowed("192.0.2.1")) << "one, not twenty";
  now += 1min;
  try_keys("192.0.2.1", 19);
  EXPECT_FALSE(is_slowed("192.0.2.1"));
}

TEST_F(WrongKeysTest, AddressesOfOneNetworkOfIPv6CountTogether) {
  for (int i = 0; i < 20; ++i) rates.note_wrong_key(from("2001:db8::" + std::to_string(i)), now);
  EXPECT_TRUE(is_slowed("2001:db8::ffff"));
  EXPECT_FALSE(is_slowed("2001:db8:0:1::1"));
}

TEST_F(WrongKeysTest, ThisMachineIsNeverSlowedDown) {
  try_keys("127.0.0.1", 1000);
  try_keys("::1", 1000);
  EXPECT_FALSE(is_slowed("127.0.0.1"));
  EXPECT_FALSE(is_slowed("::1"));
}

TEST(WrongKeys, WithoutALimitNobodyIsSlowedDown) {
  Rates rates(with_wrong_keys(0));
  for (int i = 0; i < 1000; ++i) rates.note_wrong_key(from("192.0.2.1"));
  EXPECT_FALSE(rates.is_slowed(from("192.0.2.1")));
}

Code refusal_code(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return Code::internal;
}

class SlowedAppTest : public testing::Test {
 protected:
  SlowedAppTest() {
    workspace::first_actor(keep);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(refusal_code([&] { authenticate_key(app, request, "wrong"); }), Code::unauthorized);
  }
  ~SlowedAppTest() override {
    app.stop();
    keep.stop();
  }

  TempDir dir;
  SystemClock clock;
  Metrics metrics;
  workspace::Keep keep{test::keep_options(dir.path()), clock, metrics};
  interpreter::RefusingInterpreter interpreter{keep, "none here"};
  App app{keep, interpreter, with_wrong_keys(3), metrics, "1.2.3"};
  http::Router router = make_router(app);
  http::Request request = from("192.0.2.1");
};

TEST_F(SlowedAppTest, OnlyRightKeysAreTakenFromTheAddress) {
  EXPECT_EQ(refusal_code([&] { authenticate_key(app, request, "wrong"); }), Code::too_many_requests);
  EXPECT_GE(request.retry_after_s, 1);
  EXPECT_TRUE(authenticate_key(app, request, "a-root-key-for-tests").is_admin());
  auto elsewhere = from("192.0.2.2");
  EXPECT_EQ(refusal_code([&] { authenticate_key(app, elsewhere, "wrong"); }), Code::unauthorized);
}

TEST_F(SlowedAppTest, ARevokedKeyIsNoGuess) {
  auto admin = workspace::first_actor(keep);
  identity::NewKey wanted;
  wanted.name = "k";
  auto made = keep.access().create_key(admin, admin.principal(), wanted);
  keep.access().revoke_key(admin, made.info.id);
  EXPECT_EQ(refusal_code([&] { authenticate_key(app, request, made.secret); }), Code::unauthorized)
      << "its owner is told that it was revoked";
}

TEST_F(SlowedAppTest, ARequestWithoutARightKeyIsRefusedBeforeAWorkerSeesIt) {
  auto screen = [&](const std::string& path, const std::string& authorization) {
    auto match = router.match("GET", path);
    SK_CHECK(match.route != nullptr);
    auto one = from("192.0.2.1");
    one.params = match.params;
    if (!authorization.empty()) one.headers.set("Authorization", authorization);
    if (match.route->options.screen) match.route->options.screen(one);
  };
  EXPECT_EQ(refusal_code([&] { screen("/api/v1/me", ""); }), Code::too_many_requests);
  EXPECT_EQ(refusal_code([&] { screen("/api/v1/me", "Bearer wrong"); }), Code::too_many_requests);
  EXPECT_EQ(refusal_code([&] { screen("/api/v1/me", "nonsense"); }), Code::too_many_requests);
  EXPECT_EQ(refusal_code([&] { screen("/librechat/wrong/v1/files/a", ""); }), Code::too_many_requests);
  screen("/api/v1/me", "Bearer a-root-key-for-tests");
  screen("/librechat/a-root-key-for-tests/v1/files/a", "");
  screen("/healthz", "");
  screen("/readyz", "Bearer wrong");
  screen("/", "");
}

TEST(KeyRates, OneKeyIsRefusedAndAnotherOfTheSamePrincipalIsNot) {
  TempDir dir;
  SystemClock clock;
  Metrics metrics;
  workspace::Keep keep(test::keep_options(dir.path()), clock, metrics);
  auto admin = workspace::first_actor(keep);
  auto other = workspace::actor_by_key(keep, admin.principal());
  auto third = workspace::actor_by_key(keep, admin.principal());
  DialectSettings settings{};
  settings.rate_key_per_s = 1;
  settings.rate_key_burst = 2;
  settings.rate_principal_per_s = 1;
  settings.rate_principal_burst = 4;
  Rates rates(settings);
  auto count = [&](const identity::Actor& actor) {
    http::Request request;
    rates.count(request, actor);
    rates.count(request, actor);  // a request counts once, however often it is authenticated
  };
  count(admin);
  count(admin);
  EXPECT_EQ(refusal_code([&] { count(admin); }), Code::too_many_requests);
  count(other);
  count(other);
  EXPECT_EQ(refusal_code([&] { count(third); }), Code::too_many_requests) << "the principal's own limit";
  keep.stop();
}

}  // namespace
}  // namespace sk::api
