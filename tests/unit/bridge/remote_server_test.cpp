#include "bridge/remote_server.h"

#include <gtest/gtest.h>

#include <atomic>

#include "unit/http/server_fixture.h"

namespace sk::bridge {
namespace {

class RemoteTest : public http::testing::ServerTest {
 protected:
  // Returns the answer after at most five attempts.
  RemoteAnswer get(const std::string& path) {
    auto base = "http://127.0.0.1:" + std::to_string(port());
    RemoteOptions wanted{.allow_private = true, .attempts_max = 5, .stall = std::chrono::seconds(30)};
    wanted.first_pause = std::chrono::milliseconds(1);
    RemoteServer remote(wanted, base, {}, "", patience_);
    return remote.get(base + path);
  }

  std::atomic<int> requests_ = 0;

 private:
  StopSignal signal_;
  Patience patience_{signal_, std::chrono::minutes(5)};
};

TEST_F(RemoteTest, AnAnswerThatIsTooLongIsNotDownloadedAgain) {
  for (int status : {200, 503})
    router.add("GET", "/" + std::to_string(status), [this, status](http::Request&) {
      ++requests_;
      return http::Reply::text(std::string(17 << 20, 'x'), "text/plain", status);
    });
  start();
  for (const char* path : {"/200", "/503"}) {
    requests_ = 0;
    auto answer = get(path);
    EXPECT_FALSE(answer.ok());
    EXPECT_NE(answer.problem, "");
    EXPECT_EQ(requests_, 1) << path;
  }
}

TEST_F(RemoteTest, ATemporaryFailureIsTriedAgain) {
  router.add("GET", "/", [this](http::Request&) {
    return ++requests_ < 3 ? http::Reply::text("later", "text/plain", 503) : http::Reply::text("now");
  });
  start();
  EXPECT_EQ(get("/").body, "now");
  EXPECT_EQ(requests_, 3);
}

}  // namespace
}  // namespace sk::bridge
