#include "http/client/client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>

#include "base/hash.h"
#include "http/certificates.h"
#include "server_fixture.h"

namespace sk::http {
namespace {

using testing::ServerTest;

// Refuses the first piece that it gets: the body is on its way then.
struct BusySink final : BodySink {
  void piece(std::string_view) override { throw Error(Code::unavailable, "not yet"); }
  Reply end() override { return Reply::empty(); }
};

struct CountSink final : BodySink {
  uint64_t size = 0;
  Sha256Stream hash;
  void piece(std::string_view bytes) override {
    size += bytes.size();
    hash.update(as_bytes(bytes));
  }
  Reply end() override { return Reply::json({{"size", size}, {"sha256", hash.digest().hex()}}); }
};

class ClientTest : public ServerTest {
 protected:
  void SetUp() override {
    router.add("GET", "/hello", [](Request& request) {
      return Reply::text("hello " + request.headers.get("X-Name").value_or("nobody"));
    });
    router.add("POST", "/echo", [](Request& request) {
      auto reply = Reply::text(request.body, request.headers.get("Content-Type").value_or("none"));
      reply.headers.set("X-Length", request.headers.get("Content-Length").value_or("none"));
      return reply;
    });
    router.add("GET", "/redirect", [](Request& request) {
      int left = std::stoi(request.query_value("n").value_or("1"));
      return Reply::redirect(left <= 1 ? "/hello" : "/redirect?n=" + std::to_string(left - 1), 302);
    });
    router.add("POST", "/redirect", [](Request&) { return Reply::redirect("/hello", 303); });
    router.add("GET", "/flaky", [this](Request&) -> Reply {
      if (++tries < 3) throw Error(Code::unavailable, "not yet");
      return Reply::text("at last");
    });
    router.add("POST", "/flaky", [this](Request&) -> Reply {
      ++tries;
      throw Error(Code::unavailable, "never");
    });
    router.add("POST", "/busy", [this](Request&) -> Reply {
      if (++tries == 3) return Reply::text("at last");
      Reply reply = Reply::text("not now");
      reply.status = 429;
      reply.headers.set("Retry-After", "1");
      return reply;
    });
    router.add("DELETE", "/gone", [](Request&) -> Reply { throw Error(Code::gone, "purged"); });
    router.add_streaming("PUT", "/upload", [this](Request& request) -> std::unique_ptr<BodySink> {
      if (request.headers.has("X-Refuse")) throw Error(Code::quota_exceeded, "full");
      if (request.headers.has("X-Flaky") && ++tries < 2) return std::make_unique<BusySink>();
      return std::make_unique<CountSink>();
    });
    router.add("GET", "/large", [this](Request&) { return Reply::text(large, "application/octet-stream"); });
  }

  std::string url(const std::string& path) { return "http://127.0.0.1:" + std::to_string(port()) + path; }

  std::atomic<int> tries{0};
  std::string large = std::string(5 << 20, 'x');
};

ClientRequest get(const std::string& url) {
  ClientRequest request;
  request.url = url;
  return request;
}

TEST_F(ClientTest, GetsStatusHeadersAndBody) {
  start();
  Client client;
  auto request = get(url("/hello"));
  request.headers.set("X-Name", "you");
  auto response = client.send(request);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "hello you");
  EXPECT_EQ(response.headers.get("content-type"), "text/plain; charset=utf-8");
  request.method = "HEAD";
  response = client.send(request);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(response.headers.get("Content-Length"), "9");
}

TEST_F(ClientTest, PostsABodyWithoutInventingAType) {
  start();
  Client client;
  auto request = get(url("/echo"));
  request.method = "POST";
  request.body = "some bytes";
  auto response = client.send(request);
  EXPECT_EQ(response.body, "some bytes");
  EXPECT_EQ(response.headers.get("Content-Type"), "none");
  request.headers.set("Content-Type", "application/json");
  request.body.clear();
  response = client.send(request);
  EXPECT_EQ(response.headers.get("Content-Type"), "application/json");
  EXPECT_EQ(response.headers.get("X-Length"), "0");
}

TEST_F(ClientTest, ReusesItsConnection) {
  options.connections_max = 1;
  start();
  Client client;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(client.send(get(url("/hello"))).status, 200);
}

TEST_F(ClientTest, AnyStatusIsAResponse) {
  start();
  Client client;
  auto request = get(url("/gone"));
  request.method = "DELETE";
  EXPECT_EQ(client.send(request).status, 410);
  EXPECT_EQ(client.send(get(url("/nowhere"))).status, 404);
}

TEST_F(ClientTest, FollowsRedirectsOfReadsOnlyAndNotForEver) {
  start();
  Client client;
  EXPECT_EQ(client.send(get(url("/redirect?n=5"))).body, "hello nobody");
  auto post = get(url("/redirect"));
  post.method = "POST";
  EXPECT_EQ(client.send(post).status, 303);
  try {
    client.send(get(url("/redirect?n=6")));
    ADD_FAILURE() << "followed six";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unavailable);
  }
}

TEST_F(ClientTest, TriesAgainWhereThatIsHarmless) {
  start();
  Client client({.retries_max = 2});
  EXPECT_EQ(client.send(get(url("/flaky"))).body, "at last");
  EXPECT_EQ(tries, 3);
  tries = 0;
  auto post = get(url("/flaky"));
  post.method = "POST";
  EXPECT_EQ(client.send(post).status, 503);
  EXPECT_EQ(tries, 1);
}

TEST_F(ClientTest, WaitsForABusyServerAsLongAsItMay) {
  start();
  auto post = get(url("/busy"));
  post.method = "POST";
  int told = 0;
  Client impatient({.retries_max = 2});
  EXPECT_EQ(impatient.send(post).status, 429);
  EXPECT_EQ(tries, 1);
  tries = 0;
  Client patient({.retries_max = 0, .busy_wait_max = std::chrono::minutes(1), .on_busy = [&] { ++told; }});
  EXPECT_EQ(patient.send(post).body, "at last");
  EXPECT_EQ(tries, 3);
  EXPECT_EQ(told, 1);
  tries = -1000;
  Client hurried({.retries_max = 0, .busy_wait_max = std::chrono::seconds(1)});
  EXPECT_EQ(hurried.send(post).status, 429);
  EXPECT_EQ(tries, -998);
}

// A source of `size` bytes that can be rewound.
struct Source {
  explicit Source(size_t size) : content(size, '\0') {
    fill_random(std::as_writable_bytes(std::span(content)));
  }
  void attach(ClientRequest& request, bool rewindable) {
    request.body_source = [this](std::span<char> out) {
      size_t count = std::min(out.size(), content.size() - at);
      content.copy(out.data(), count, at);
      at += count;
      return count;
    };
    if (rewindable) request.rewind_body = [this] { at = 0; };
  }
  std::string content;
  size_t at = 0;
};

TEST_F(ClientTest, StreamsAnUploadWithAndWithoutALength) {
  start();
  Client client;
  Source source(9 << 20);
  for (bool sized : {true, false}) {
    auto request = get(url("/upload"));
    request.method = "PUT";
    source.at = 0;
    source.attach(request, false);
    if (sized) request.body_size = source.content.size();
    uint64_t reported = 0;
    request.progress = [&](uint64_t sent, uint64_t) { reported = sent; };
    auto response = client.send(request);
    ASSERT_EQ(response.status, 200);
    EXPECT_EQ(parse_json(response.body)["sha256"], sha256(source.content).hex());
    EXPECT_GE(reported, source.content.size());  // chunks have heads of their own
  }
}

TEST_F(ClientTest, SendsAStreamedBodyAgainOnlyWhenItCanBeRewound) {
  start();
  Source source(3 << 20);
  auto request = get(url("/upload"));
  request.method = "PUT";
  request.headers.set("X-Flaky", "yes");
  source.attach(request, true);
  request.body_size = source.content.size();
  Client client;
  auto response = client.send(request);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(parse_json(response.body)["sha256"], sha256(source.content).hex());
  tries = 0;
  source.at = 0;
  request.rewind_body = {};
  EXPECT_EQ(client.send(request).status, 503);
}

TEST_F(ClientTest, SeesWhyAnUploadWasRefused) {
  start();
  Source source(200 << 20);
  Client client;
  for (bool expects : {true, false}) {
    auto request = get(url("/upload"));
    request.method = "PUT";
    request.headers.set("X-Refuse", "yes");
    if (!expects) request.headers.set("Expect", "");
    source.at = 0;
    source.attach(request, false);
    request.body_size = source.content.size();
    auto response = client.send(request);
    EXPECT_EQ(response.status, 507);
    EXPECT_EQ(parse_json(response.body)["error"]["code"], "quota_exceeded");
  }
}

TEST_F(ClientTest, StreamsADownloadIntoTheSinkAndErrorsIntoTheBody) {
  start();
  Client client;
  uint64_t received = 0;
  auto request = get(url("/large"));
  request.body_sink = [&](std::string_view bytes) {
    received += bytes.size();
    return true;
  };
  auto response = client.send(request);
  EXPECT_EQ(received, large.size());
  EXPECT_EQ(response.body, "");
  request.url = url("/nowhere");
  response = client.send(request);
  EXPECT_EQ(received, large.size());
  EXPECT_EQ(parse_json(response.body)["error"]["code"], "not_found");
}

TEST_F(ClientTest, StopsWhenTheSinkWantsNoMoreAndPassesOnWhatCallbacksThrow) {
  start();
  Client client;
  auto request = get(url("/large"));
  request.body_sink = [](std::string_view) { return false; };
  EXPECT_THROW(client.send(request), Error);
  request.body_sink = [](std::string_view) -> bool { throw std::logic_error("mine"); };
  EXPECT_THROW(client.send(request), std::logic_error);
  EXPECT_EQ(client.send(get(url("/hello"))).status, 200);
}

std::string message_of(Client& client, const ClientRequest& request) {
  try {
    client.send(request);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unavailable);
    return error.message();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST_F(ClientTest, ReportsThatTheConnectionWasRefused) {
  start();
  auto there = url("/hello?token=secret");
  server->stop(std::chrono::seconds(1));
  Client client({.retries_max = 1});
  auto message = message_of(client, get(there));
  EXPECT_TRUE(message.ends_with(": connection refused")) << message;
  EXPECT_EQ(message.find("secret"), std::string::npos) << message;
}

TEST_F(ClientTest, GivesUpOnAServerThatNeverAnswers) {
  router.add("GET", "/never", [](Request&) {
    return Reply::deferred(
        std::make_shared<Deferred>(std::chrono::minutes(5), [] { return Reply::empty(); }));
  });
  start();
  Client stalled({.stall_timeout = std::chrono::seconds(1), .retries_max = 0});
  message_of(stalled, get(url("/never")));
  Client hurried({.total_timeout = std::chrono::milliseconds(200), .retries_max = 0});
  message_of(hurried, get(url("/never")));
}

TEST_F(ClientTest, RefusesWhatIsNoWebAddress) {
  start();
  Client client;
  for (auto address : {"ftp://x/y", "file:///etc/passwd", "nonsense://", ""}) {
    try {
      client.send(get(address));
      ADD_FAILURE() << address;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::bad_request) << address;
    }
  }
  auto smuggling = get(url("/hello"));
  smuggling.headers.set("X-Name", "a\r\nX-Evil: b");
  EXPECT_THROW(client.send(smuggling), Error);
}

class TlsTest : public ClientTest {
 protected:
  void SetUp() override {
    ClientTest::SetUp();
    auto now_us = SystemClock().now_us();
    auto authority = make_authority("Test authority", now_us, 10);
    std::vector<std::string> names = {"localhost", "127.0.0.1"};
    auto pair = make_server_certificate(authority, names, now_us, 10);
    options.tls_cert_pem = pair.cert_pem;
    options.tls_key_pem = pair.key_pem;
    ca_file = ::testing::TempDir() + "sandkeep-http-test-ca-" + std::to_string(::getpid()) + ".pem";
    std::ofstream(ca_file) << authority.cert_pem;
  }
  void TearDown() override {
    ClientTest::TearDown();
    ::unlink(ca_file.c_str());
  }
  std::string secure(const std::string& path) { return "https://127.0.0.1:" + std::to_string(port()) + path; }

  std::string ca_file;
};

TEST_F(TlsTest, ServesClientsThatTrustItsAuthority) {
  router.add("GET", "/base", [](Request& request) { return Reply::text(request.base_url); });
  start();
  Client client({.ca_file = ca_file});
  EXPECT_EQ(client.send(get(secure("/hello"))).body, "hello nobody");
  EXPECT_EQ(client.send(get(secure("/large"))).body.size(), large.size());
  EXPECT_EQ(client.send(get(secure("/base"))).body, secure(""));
}

TEST_F(TlsTest, DoesNotFollowARedirectFromHttpsToHttp) {
  std::atomic<int> plain_requests{0};
  Router plain_router;
  plain_router.add("GET", "/hello", [&](Request&) {
    ++plain_requests;
    return Reply::text("in the clear");
  });
  Server plain(defaults(), std::move(plain_router), metrics);
  auto target = "http://127.0.0.1:" + std::to_string(plain.port()) + "/hello";
  router.add("GET", "/down", [&](Request&) { return Reply::redirect(target, 302); });
  start();
  Client client({.ca_file = ca_file});
  try {
    client.send(get(secure("/down")));
    ADD_FAILURE() << "followed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unavailable);
  }
  EXPECT_EQ(plain_requests, 0);
  // The handle is used again: what was forbidden to the request before is not forbidden to this one.
  EXPECT_EQ(client.send(get(target)).body, "in the clear");
  plain.stop(std::chrono::milliseconds(0));
}

TEST_F(TlsTest, StreamsUploadsAndRefusesThemWithAnAnswer) {
  start();
  Client client({.ca_file = ca_file});
  Source source(9 << 20);
  auto request = get(secure("/upload"));
  request.method = "PUT";
  source.attach(request, false);
  request.body_size = source.content.size();
  EXPECT_EQ(parse_json(client.send(request).body)["sha256"], sha256(source.content).hex());
  request.headers.set("X-Refuse", "yes");
  request.headers.set("Expect", "");
  source.at = 0;
  EXPECT_EQ(client.send(request).status, 507);
}

TEST_F(TlsTest, IsNotTrustedWithoutItsAuthorityUnlessTheClientInsists) {
  start();
  Client stranger({.retries_max = 0});
  auto message = message_of(stranger, get(secure("/hello")));
  EXPECT_NE(message.find("not trusted"), std::string::npos) << message;
  Client careless({.insecure_tls = true});
  EXPECT_EQ(careless.send(get(secure("/hello"))).status, 200);
}

TEST_F(TlsTest, DoesNotStartWithAKeyOfAnotherCertificate) {
  auto now_us = SystemClock().now_us();
  auto other = make_authority("Other", now_us, 10);
  for (const auto& key : {other.key_pem, std::string("nonsense"), std::string()}) {
    options.tls_key_pem = key;
    try {
      Server broken(options, Router(), metrics);
      ADD_FAILURE() << "started";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::bad_request);
    }
  }
}

}  // namespace
}  // namespace sk::http
