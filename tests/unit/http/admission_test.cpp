// Bodies of clients that nobody knows, that are too many or too slow.
#include <gtest/gtest.h>

#include <atomic>

#include "http/body_pace.h"
#include "server_fixture.h"

namespace sk::http {
namespace {

using namespace std::chrono_literals;
using testing::Flag;
using testing::RawClient;
using testing::ServerTest;

TEST(BodyPaceTest, CountsTheAverageAfterTheGrace) {
  BodyPace pace{.bytes_per_s_min = 1000, .grace = 10s, .time_max = 60s};
  using enum BodyPace::HeldIn;
  EXPECT_FALSE(pace.is_too_slow(memory, 0, 10s));
  EXPECT_TRUE(pace.is_too_slow(memory, 0, 12s));
  EXPECT_FALSE(pace.is_too_slow(sink, 2000, 12s));
  EXPECT_TRUE(pace.is_too_slow(sink, 1999, 12s));
  EXPECT_TRUE(pace.is_too_slow(memory, 1 << 30, 61s));
  EXPECT_FALSE(pace.is_too_slow(sink, 1 << 30, 1h)) << "a file may take its time";
}

class Admission : public ServerTest {
 protected:
  void SetUp() override {
    RouteOptions known{.body_bytes_max = 8 << 20, .admit = [this](Request& request) {
                         ++admitted;
                         if (!request.headers.has("X-Key")) throw Error(Code::unauthorized, "who are you?");
                         request.owner = *request.headers.get("X-Key");
                       }};
    router.add(
        "POST", "/json",
        [this](Request& request) {
          if (request.headers.has("X-Hold")) held.raise(), let_go.await();
          return Reply::text(std::to_string(request.body.size()));
        },
        known);
    router.add("GET", "/health", [](Request&) { return Reply::text("ok"); },
               {.thread = RouteOptions::Thread::loop});
  }
  static std::string head(const std::string& more) {
    return "POST /json HTTP/1.1\r\nHost: test\r\n" + more + "\r\n";
  }

  std::atomic<int> admitted{0};
  Flag held, let_go;
};

TEST_F(Admission, NothingIsReadOfABodyThatNobodyMaySend) {
  start();
  RawClient client(port());
  ASSERT_TRUE(client.send(head("Content-Length: 8000000\r\n")));
  EXPECT_EQ(client.read_reply().status, 401) << "before any byte of the body";
  RawClient chunked(port());
  ASSERT_TRUE(chunked.send(head("Transfer-Encoding: chunked\r\n")));
  ASSERT_TRUE(chunked.send("1\r\na\r\n"));
  EXPECT_EQ(chunked.read_reply().status, 401);
  EXPECT_EQ(admitted, 2);
}

TEST_F(Admission, AKnownClientIsHeardAndASmallBodyCostsNoStep) {
  start();
  RawClient client(port());
  ASSERT_TRUE(client.send(head("X-Key: me\r\nContent-Length: 100000\r\n")));
  ASSERT_TRUE(client.send(std::string(100'000, 'a')));
  EXPECT_EQ(client.read_reply().body, "100000");
  EXPECT_EQ(admitted, 1);
  ASSERT_TRUE(client.send(head("Content-Length: 3\r\n") + "abc"));
  EXPECT_EQ(client.read_reply().body, "3") << "the handler decides";
  EXPECT_EQ(admitted, 1);
}

TEST_F(Admission, BodiesOfOneOwnerLeaveRoomForOthers) {
  options.body_memory_bytes_max = 4 << 20;
  start();
  std::string large = "Content-Length: 1500000\r\n";
  RawClient first(port()), second(port()), other(port());
  ASSERT_TRUE(first.send(head("X-Key: me\r\nX-Hold: 1\r\n" + large) + std::string(1'500'000, 'a')));
  ASSERT_TRUE(held.await());
  ASSERT_TRUE(second.send(head("X-Key: me\r\n" + large)));
  second.send(std::string(1'500'000, 'a'));
  EXPECT_EQ(second.read_reply().status, 503);
  ASSERT_TRUE(other.send(head("X-Key: other\r\n" + large) + std::string(1'500'000, 'a')));
  EXPECT_EQ(other.read_reply().status, 200);
  let_go.raise();
  EXPECT_EQ(first.read_reply().status, 200);
  RawClient again(port());
  ASSERT_TRUE(again.send(head("X-Key: me\r\n" + large) + std::string(1'500'000, 'a')));
  EXPECT_EQ(again.read_reply().status, 200) << "what was used was given back";
}

TEST_F(Admission, AClientThatSendsTooSlowlyIsCutOff) {
  options.body_pace = {.bytes_per_s_min = 1 << 20, .grace = 0s, .time_max = 300s};
  start();
  RawClient client(port());
  ASSERT_TRUE(client.send(head("X-Key: me\r\nContent-Length: 100000\r\n")));
  while (client.send("a")) {
    pollfd answered{client.fd(), POLLIN, 0};
    if (::poll(&answered, 1, 50) == 1) break;
  }
  EXPECT_EQ(client.read_reply().status, 408);
  EXPECT_TRUE(client.closed());
}

TEST_F(Admission, HealthIsToldWhileEveryWorkerIsBusy) {
  start();
  std::vector<std::unique_ptr<RawClient>> busy;
  for (size_t i = 0; i < 2 * options.worker_threads; ++i) {
    busy.push_back(std::make_unique<RawClient>(port()));
    ASSERT_TRUE(busy.back()->send(head("X-Hold: 1\r\nContent-Length: 3\r\n") + "abc"));
  }
  ASSERT_TRUE(held.await());
  RawClient client(port());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(client.get("/health").body, "ok");
  let_go.raise();
  for (auto& one : busy) EXPECT_EQ(one->read_reply().status, 200);
}

}  // namespace
}  // namespace sk::http
