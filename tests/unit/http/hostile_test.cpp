// Clients that send nonsense, too much, too slowly, or leave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server_fixture.h"

namespace sk::http {
namespace {

using ::testing::EndsWith;
using testing::Flag;
using testing::RawClient;
using testing::ServerTest;
using ::testing::StartsWith;

class HostileClient : public ServerTest {
 protected:
  void SetUp() override {
    router.add("GET", "/hello", [](Request&) { return Reply::text("hello"); });
    router.add("POST", "/hello", [](Request&) { return Reply::text("hello"); });
  }
  // The server still works, whatever was done to it.
  void expect_alive() {
    RawClient client(port());
    EXPECT_EQ(client.get("/hello").body, "hello");
  }
};

TEST_F(HostileClient, Gets400ForWhatIsNotHttp) {
  start();
  for (std::string text :
       {"GARBAGE\r\n\r\n", " GET / HTTP/1.1\r\n\r\n", "GET /\r\n\r\n", "GET / HTTQ/1.1\r\n\r\n",
        "\x16\x03\x01\r\n", "GET /hello HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n"}) {
    RawClient client(port());
    client.send(text);
    EXPECT_EQ(client.read_reply().status, 400) << text;
    EXPECT_TRUE(client.closed()) << text;
  }
  expect_alive();
}

TEST_F(HostileClient, Gets400ForAHeadThatTwoParsersCouldReadDifferently) {
  start();
  const std::string good = "GET /hello HTTP/1.1\r\nHost: a\r\nX-A: 1\r\n\r\n";
  auto changed = [&](const std::string& part, const std::string& instead) {
    std::string text = good;
    return text.replace(text.find(part), part.size(), instead);
  };
  const std::string nul(1, '\0');
  for (const auto& text : {
           changed("1.1\r\n", "1.1\n"),
           changed("a\r\n", "a\n"),
           changed("1\r\n\r\n", "1\n\r\n"),
           changed("1\r\n\r\n", "1\r\n\n"),
           changed("1\r\n\r\n", "1\n\n"),
           changed("X-A: 1", "X-A: 1\r\n 2"),
           changed("X-A: 1", "X-A: 1\r\n\t2"),
           changed("X-A: 1", "X-A:\r\n 1"),
           changed("X-A: 1", "X-A: 1" + nul + "2"),
           changed("X-A: 1", "X-A: 1" + nul),
           changed("X-A: 1", "X" + nul + "A: 1"),
           changed("X-A: 1", ": 1"),
           changed("X-A: 1", "X-A: 1\r2"),
           changed("/hello", "/hello" + nul + "x"),
           changed("/hello", "/hello?a=" + nul),
           changed("GET", "GE" + nul + "T"),
           changed(" /", "  /"),
           changed("X-A: 1", "Host: a"),
           changed("X-A: 1", "Content-Type: a/b\r\nContent-Type: a/b"),
           changed("X-A: 1", "Authorization: a\r\nAuthorization: a"),
           changed("X-A: 1", "Content-Length: 0\r\nContent-Length: 0"),
       }) {
    RawClient client(port());
    client.send(text);
    EXPECT_EQ(client.read_reply().status, 400) << text;
    EXPECT_TRUE(client.closed()) << text;
  }
  expect_alive();
}

TEST_F(HostileClient, IsNotMistakenForOneThatSendsAnUnusualHead) {
  start();
  RawClient client(port());
  const std::string large(20'000, 'x');
  for (const std::string& text : {std::string("GET /hello HTTP/1.0\r\n\r\n"),
                                  std::string("GET /hello?a=b&c#d HTTP/1.1\r\nHost: a\r\nX-A:\r\n\r\n"),
                                  std::string("GET http://a/hello HTTP/1.1\r\nHost: a\r\nX-A:1 \t\r\n\r\n"),
                                  "\r\nGET /hello HTTP/1.1\r\nHost: a\r\nCookie: a=b; c=\"d\"\r\nX-A: " +
                                      large + "\r\nX-B: \t b\r\nCookie: e=f\r\n\r\n"}) {
    RawClient each(port());
    // In pieces, so that the head is read in several steps.
    for (size_t at = 0; at < text.size(); at += 1 + text.size() / 3)
      each.send(std::string_view(text).substr(at, 1 + text.size() / 3));
    EXPECT_EQ(each.read_reply().status, 200) << text.substr(0, 100);
  }
  // Several requests on one connection, one of them with a body, in one packet.
  client.send(
      "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
      "GET /hello?x HTTP/1.1\r\nHost: a\r\n\r\n");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.read_reply().status, 200) << i;
}

TEST_F(HostileClient, Gets400AlsoAfterAGoodRequest) {
  start();
  RawClient client(port());
  EXPECT_EQ(client.get("/hello").status, 200);
  client.send("nonsense\r\n\r\n");
  EXPECT_EQ(client.read_reply().status, 400);
  EXPECT_TRUE(client.closed());
}

TEST_F(HostileClient, GetsNoSecondAnswerWhenItLeaves) {
  start();
  RawClient client(port());
  client.get("/hello");
  client.half_close();
  EXPECT_EQ(client.read_all(), "");
}

TEST_F(HostileClient, Gets400AndAClosedConnectionForDoubtfulFraming) {
  start();
  for (std::string headers :
       {"", "Host: a\r\nHost: b\r\n", "Host: <x>\r\n",
        "Host: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Host: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n", "Host: a\r\nContent-Length : 5\r\n",
        "Host: a\r\nContent-Length: -5\r\n", "Host: a\r\nContent-Length: 5x\r\n"}) {
    RawClient client(port());
    client.send("POST /hello HTTP/1.1\r\n" + headers + "\r\n");
    EXPECT_EQ(client.read_head().status, 400) << headers;
    client.read_all();
  }
  RawClient client(port());
  client.send("POST /hello HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n");
  EXPECT_EQ(client.read_reply().status, 501);
  EXPECT_TRUE(client.closed());
  expect_alive();
}

TEST_F(HostileClient, GetsOneReplyInOurShapeForAHeadThatTheLibraryWouldRefuseItself) {
  start();
  // Heads that are not complete, on every loop.
  std::vector<std::unique_ptr<RawClient>> others;
  for (int i = 0; i < 4; ++i) {
    others.push_back(std::make_unique<RawClient>(port()));
    others.back()->send("POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n");
  }
  for (std::string headers : {"", "Host: a\r\nContent-Length: -5\r\n", "Host: a\r\nContent-Length: 5x\r\n",
                              "Host: a\r\nContent-Length: 5, 5\r\n", "Host: a\r\nContent-Length:\r\n",
                              "Host: a\r\nContent-Length: 99999999999999999999999\r\n"})
    for (std::string body : {"", "body"}) {
      RawClient client(port());
      client.send("POST /hello HTTP/1.1\r\n");
      client.send("X-Request-Id: mine\r\n" + headers + "\r\n" + body);
      auto text = client.read_all();
      EXPECT_THAT(text, StartsWith("HTTP/1.1 400 ")) << headers;
      EXPECT_EQ(text.find("HTTP/1.1", 1), std::string::npos) << headers << text;
      auto error = parse_json(text.substr(text.find("\r\n\r\n") + 4))["error"];
      EXPECT_EQ(error["code"], "bad_request") << headers;
      EXPECT_EQ(error["request_id"], "mine") << headers;
    }
  for (auto& other : others) {
    other->send("\r\nab");
    EXPECT_EQ(other->read_reply().status, 200);
  }
  expect_alive();
}

TEST_F(HostileClient, Gets400ForHeadersThatProxiesReadOtherwise) {
  start();
  for (std::string headers :
       {"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n", "X: a\x01z\r\n", "X: a\x7fz\r\n"}) {
    RawClient client(port());
    client.send("GET /hello HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n");
    EXPECT_EQ(client.read_reply().status, 400) << headers;
  }
  expect_alive();
}

TEST_F(HostileClient, SeesNoAnswerThatABrowserWouldGuessAtOrKeep) {
  start();
  RawClient client(port());
  auto reply = client.get("/hello");
  EXPECT_EQ(reply.header("x-content-type-options"), "nosniff");
  EXPECT_EQ(reply.header("cache-control"), "no-store");
}

TEST_F(HostileClient, Gets400ForBadTargets) {
  start();
  for (auto target : {"/hello%00", "/hello%", "/%zz", "hello", "/hello?x=%", "/hello?%00", "/he llo"}) {
    RawClient client(port());
    auto reply = client.request("GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(reply.status, 400) << target;
    EXPECT_EQ(parse_json(reply.body)["error"]["code"], "bad_request") << target;
  }
}

TEST_F(HostileClient, Gets400ForAMalformedChunk) {
  start();
  RawClient client(port());
  client.send("POST /hello HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n");
  EXPECT_EQ(client.read_reply().status, 400);
  expect_alive();
}

TEST_F(HostileClient, CannotSendEndlessHeaders) {
  start();
  std::string some_over(40 << 10, 'x');
  std::string far_over(1 << 20, 'x');
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "X" + std::to_string(i) + ": y\r\n";
  for (const auto& headers : {"X: " + some_over + "\r\n", "X: " + far_over + "\r\n", many}) {
    RawClient client(port());
    client.send("GET /hello HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n");
    EXPECT_EQ(client.read_head().status, 431);
  }
  RawClient client(port());
  client.send("GET /" + far_over + " HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.read_head().status, 414);
  expect_alive();
}

TEST_F(HostileClient, MaySendALongQuery) {
  start();
  RawClient client(port());
  std::string query = "a=1";
  for (int i = 0; i < 5000; ++i) query += "&a=1";
  EXPECT_EQ(client.get("/hello?" + query).status, 200);
}

TEST_F(HostileClient, ThatIsOneTooManyGets503) {
  options.connections_max = 2;
  std::array<std::shared_ptr<Deferred>, 2> waiting;
  std::array<Flag, 2> handled;
  for (size_t i = 0; i < 2; ++i)
    router.add("GET", "/wait/" + std::to_string(i), [&, i](Request&) {
      waiting[i] =
          std::make_shared<Deferred>(std::chrono::seconds(300), [] { return Reply::text("too late"); });
      handled[i].raise();
      return Reply::deferred(waiting[i]);
    });
  start();
  RawClient first(port()), second(port());
  first.send("GET /wait/0 HTTP/1.1\r\nHost: a\r\n\r\n");
  second.send("GET /wait/1 HTTP/1.1\r\nHost: a\r\n\r\n");
  for (auto& one : handled) ASSERT_TRUE(one.await());
  RawClient third(port());
  EXPECT_EQ(third.read_reply().status, 503);
  EXPECT_TRUE(third.closed());
  for (auto& one : waiting) one->complete(Reply::text("done"));
  EXPECT_EQ(first.read_reply().body, "done");
  EXPECT_EQ(second.read_reply().body, "done");
}

TEST_F(HostileClient, CannotLockOutOthersByIdling) {
  options.connections_max = 4;
  start();
  std::array<RawClient, 4> idle = {RawClient(port()), RawClient(port()), RawClient(port()),
                                   RawClient(port())};
  for (auto& one : idle) EXPECT_EQ(one.get("/hello").status, 200);
  // Refused until the others have idled for a moment.
  auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(testing::kPatienceMs);
  int status = 0;
  while (status != 200 && std::chrono::steady_clock::now() < deadline) {
    RawClient another(port());
    status = another.get("/hello").status;
  }
  EXPECT_EQ(status, 200);
}

TEST_F(HostileClient, CannotTakeAllConnectionsOfTheOthers) {
  options.connections_per_address_max = 1;
  start();
  RawClient first(port());
  EXPECT_EQ(first.get("/hello").status, 200);
  RawClient second(port());
  EXPECT_EQ(second.read_reply().status, 503);
}

TEST_F(HostileClient, ThatSaysNothingIsDisconnected) {
  options.idle_timeout_s = 1;
  start();
  RawClient client(port());
  EXPECT_EQ(client.read_all(), "");
}

TEST_F(HostileClient, ThatStopsInTheMiddleOfItsHeadersGets408) {
  options.idle_timeout_s = 1;
  start();
  RawClient client(port());
  client.send("GET /hello HTT");
  EXPECT_EQ(client.read_reply().status, 408);
  EXPECT_TRUE(client.closed());
}

TEST_F(HostileClient, ThatLeavesInTheMiddleOfItsHeadersIsReleasedBeforeTheTimeout) {
  options.idle_timeout_s = 12;
  start();
  RawClient client(port());
  EXPECT_EQ(client.get("/nowhere").status, 404);
  client.send("GET /hello HTT");
  client.half_close();
  // After the time-out it would be a 408.
  EXPECT_EQ(client.read_reply().status, 400);
  EXPECT_TRUE(client.closed());
}

// The loop is held while something happens, which it then finds all at once.
class BusyLoop : public HostileClient {
 protected:
  void SetUp() override {
    HostileClient::SetUp();
    options.idle_timeout_s = 3600;
    options.loop_threads = 1;
    options.error_reply = [this](const Request& request, const Error& error) {
      if (request.path == "/hold") {
        held_.raise();
        EXPECT_TRUE(go_on_.await());
      }
      return error_to_reply(request, error);
    };
  }
  void hold_while(const std::function<void()>& happening) {
    RawClient holding(port());
    held_.lower();
    go_on_.lower();
    holding.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_TRUE(held_.await());
    happening();
    go_on_.raise();
    EXPECT_EQ(holding.read_reply().status, 404);
  }
  // What a client gets whose last bytes and whose end reach the loop as one event.
  std::string answer_to_leaving_with(const std::string& text) {
    // libmicrohttpd treats the connection that has been idle for longest as a special case.
    RawClient bystander(port()), client(port());
    EXPECT_EQ(bystander.get("/hello").status, 200);
    // Answered by the loop itself, which from then on waits for an event.
    EXPECT_EQ(client.get("/nowhere").status, 404);
    hold_while([&] {
      client.send(text);
      client.half_close();
    });
    return client.read_all();
  }
  static constexpr auto kPost = "POST /hello HTTP/1.1\r\nHost: a\r\n";

 private:
  Flag held_, go_on_;
};

TEST_F(BusyLoop, NoticesAtOnceThatAClientLeftInsideItsBody) {
  start();
  for (std::string rest : {"Content-Length: 10\r\n\r\n", "Content-Length: 10\r\n\r\nhalf",
                           "Transfer-Encoding: chunked\r\n\r\n5\r\nhel"})
    EXPECT_EQ(answer_to_leaving_with(kPost + rest), "") << rest;
  expect_alive();
}

TEST_F(BusyLoop, AnswersACompleteRequestWhoseClientClosedItsSide) {
  struct Sink final : BodySink {
    void piece(std::string_view bytes) override { text.append(bytes); }
    Reply end() override { return Reply::text(text); }
    std::string text;
  };
  router.add_streaming("PUT", "/echo", [](Request&) { return std::make_unique<Sink>(); });
  start();
  EXPECT_THAT(answer_to_leaving_with("GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(answer_to_leaving_with("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"), EndsWith("hello"));
  for (std::string rest :
       {"Content-Length: 4\r\n\r\nfull", "Transfer-Encoding: chunked\r\n\r\n4\r\nfull\r\n0\r\n\r\n"})
    EXPECT_THAT(answer_to_leaving_with(kPost + rest), EndsWith("hello")) << rest;
  EXPECT_THAT(answer_to_leaving_with("PUT /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                                     "4\r\nfull\r\n0\r\n\r\n"),
              EndsWith("full"));
}

TEST_F(HostileClient, ThatDripsItsHeadersIsDisconnectedAllTheSame) {
  options.idle_timeout_s = 1;
  start();
  RawClient client(port());
  client.send("GET /hello HTTP/1.1\r\nHost: a\r\nX: ");
  // Never idle for the time-out, never done: one byte every 300 ms, until the server has had enough. The wait
  // itself is what is tested.
  int drops = 0;
  for (; drops < 60; ++drops) {
    pollfd wait{client.fd(), POLLIN, 0};
    if (::poll(&wait, 1, 300) != 0) break;
    if (!client.send("x")) break;
  }
  EXPECT_LT(drops, 60);
  expect_alive();
}

TEST_F(HostileClient, ThatStopsInTheMiddleOfItsBodyGets408) {
  options.idle_timeout_s = 1;
  start();
  RawClient client(port());
  client.send("POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf");
  EXPECT_EQ(client.read_reply().status, 408);
  EXPECT_TRUE(client.closed());
}

}  // namespace
}  // namespace sk::http
