#include "http/server.h"

#include <gtest/gtest.h>

#include "server_fixture.h"

namespace sk::http {
namespace {

using testing::Flag;
using testing::RawClient;
using testing::ServerTest;

Reply echo(Request& request) {
  Json query = Json::array();
  for (const auto& [name, value] : request.query) query.push_back({name, value});
  Json params = Json::object();
  for (const auto& [name, value] : request.params) params[name] = value;
  return Reply::json({{"method", request.method},
                      {"path", request.path},
                      {"route", request.route},
                      {"params", params},
                      {"query", query},
                      {"body", request.body},
                      {"base_url", request.base_url},
                      {"remote", request.remote_address}});
}

class BasicServer : public ServerTest {
 protected:
  void SetUp() override {
    router.add("GET", "/hello", [](Request&) { return Reply::text("hello"); });
    router.add("GET", "/echo/{rest...}", echo);
    router.add("POST", "/echo/{rest...}", echo, {.body_bytes_max = 1000});
    router.add("GET", "/throws",
               [](Request&) -> Reply { throw Error(Code::conflict, "no").with("current", "v1"); });
    router.add("GET", "/breaks",
               [](Request&) -> Reply { throw std::runtime_error("the secret path /etc/x"); });
  }
};

TEST_F(BasicServer, AnswersARequestWithItsIdAndKeepsTheConnection) {
  start();
  RawClient client(port());
  for (int i = 0; i < 3; ++i) {
    auto reply = client.get("/hello");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, "hello");
    EXPECT_TRUE(reply.header("x-request-id").starts_with("req_"));
  }
}

TEST_F(BasicServer, DecodesPathParametersAndQuery) {
  start();
  RawClient client(port());
  auto reply = client.get("/echo/a%2Fb/c%20d?x=1+2&y=%26&z");
  auto json = parse_json(reply.body);
  EXPECT_EQ(json["params"]["rest"], "a/b/c d");
  EXPECT_EQ(to_text(json["query"]), R"([["x","1 2"],["y","&"],["z",""]])");
  EXPECT_EQ(json["path"], "/echo/a%2Fb/c%20d");
  EXPECT_EQ(json["base_url"], "http://test");
  EXPECT_EQ(json["remote"], "127.0.0.1");
}

TEST_F(BasicServer, BuffersABodyUpToTheRoutesLimit) {
  start();
  RawClient client(port());
  auto reply = client.request("POST /echo/ HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(parse_json(reply.body)["body"], "hello");
  reply = client.request("POST /echo/ HTTP/1.1\r\nHost: test\r\nContent-Length: 1001\r\n\r\n" +
                         std::string(1001, 'x'));
  EXPECT_EQ(reply.status, 413);
  EXPECT_EQ(parse_json(reply.body)["error"]["code"], "too_large");
  // The refused body was read to its end, so the connection goes on.
  EXPECT_EQ(client.get("/hello").status, 200);
}

TEST_F(BasicServer, TakesABodyOfExactlyTheLimitHoweverItIsFramed) {
  start();
  const std::string head = "POST /echo/ HTTP/1.1\r\nHost: test\r\n";
  auto in_chunks = [&](size_t bytes, size_t chunk) {
    std::string wire = head + "Transfer-Encoding: chunked\r\n\r\n";
    for (size_t left = bytes; left > 0; left -= std::min(left, chunk)) {
      char size[16];
      std::snprintf(size, sizeof size, "%zx\r\n", std::min(left, chunk));
      wire += size + std::string(std::min(left, chunk), 'x') + "\r\n";
    }
    return wire + "0\r\n\r\n";
  };
  for (size_t chunk : {1u, 7u, 500u, 999u, 1000u, 1001u}) {
    RawClient client(port());
    auto reply = client.request(in_chunks(1000, chunk));
    EXPECT_EQ(reply.status, 200) << chunk;
    EXPECT_EQ(parse_json(reply.body)["body"], std::string(1000, 'x')) << chunk;
    RawClient other(port());
    reply = other.request(in_chunks(1001, chunk));
    EXPECT_EQ(reply.status, 413) << chunk;
    EXPECT_EQ(parse_json(reply.body)["error"]["code"], "too_large") << chunk;
  }
  RawClient client(port());
  auto reply = client.request(head + "Content-Length: 1000\r\n\r\n" + std::string(1000, 'x'));
  EXPECT_EQ(parse_json(reply.body)["body"], std::string(1000, 'x'));
}

TEST_F(BasicServer, TurnsErrorsIntoJsonWithTheRequestId) {
  start();
  RawClient client(port());
  auto reply = client.get("/throws", "X-Request-Id: mine-1\r\n");
  EXPECT_EQ(reply.status, 409);
  auto error = parse_json(reply.body)["error"];
  EXPECT_EQ(error["code"], "conflict");
  EXPECT_EQ(error["request_id"], "mine-1");
  EXPECT_EQ(error["current"], "v1");
  EXPECT_EQ(reply.header("x-request-id"), "mine-1");
}

TEST_F(BasicServer, HidesWhatAnUnexpectedExceptionSays) {
  start();
  RawClient client(port());
  auto reply = client.get("/breaks");
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(parse_json(reply.body)["error"]["code"], "internal");
  EXPECT_EQ(reply.body.find("secret"), std::string::npos);
}

TEST_F(BasicServer, AnswersHeadWithTheLengthAndNoBody) {
  start();
  RawClient client(port());
  auto reply = client.request("HEAD /hello HTTP/1.1\r\nHost: test\r\n\r\n");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.header("content-length"), "5");
  EXPECT_EQ(client.get("/hello").body, "hello");
}

TEST_F(BasicServer, AnswersUnknownPathsMethodsAndOptions) {
  start();
  RawClient client(port());
  EXPECT_EQ(client.get("/nowhere").status, 404);
  auto reply = client.request("DELETE /hello HTTP/1.1\r\nHost: test\r\n\r\n");
  EXPECT_EQ(reply.status, 405);
  EXPECT_EQ(reply.header("allow"), "GET, HEAD, OPTIONS");
  reply = client.request("OPTIONS /echo/x HTTP/1.1\r\nHost: test\r\n\r\n");
  EXPECT_EQ(reply.status, 204);
  EXPECT_EQ(reply.header("allow"), "GET, POST, HEAD, OPTIONS");
  EXPECT_EQ(client.request("OPTIONS * HTTP/1.1\r\nHost: test\r\n\r\n").status, 204);
}

TEST_F(BasicServer, AnswersPipelinedRequestsInOrder) {
  start();
  RawClient client(port());
  std::string all;
  for (int i = 0; i < 20; ++i) all += "GET /echo/" + std::to_string(i) + " HTTP/1.1\r\nHost: test\r\n\r\n";
  client.send(all);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(parse_json(client.read_reply().body)["params"]["rest"], std::to_string(i));
}

TEST_F(BasicServer, ServesManyClientsAtOnce) {
  start();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 100; ++i) clients.push_back(std::make_unique<RawClient>(port()));
  for (int round = 0; round < 3; ++round) {
    for (auto& client : clients) client->send("GET /hello HTTP/1.1\r\nHost: test\r\n\r\n");
    for (auto& client : clients) EXPECT_EQ(client->read_reply().body, "hello");
  }
}

TEST_F(BasicServer, CompressesLargeJsonForClientsThatAcceptIt) {
  router.add("GET", "/large", [](Request&) { return Reply::json({{"text", std::string(5000, 'x')}}); });
  start();
  RawClient client(port());
  auto plain = client.get("/large");
  EXPECT_EQ(plain.header("content-encoding"), "");
  EXPECT_EQ(plain.header("vary"), "Accept-Encoding");
  auto packed = client.get("/large", "Accept-Encoding: gzip, br\r\n");
  EXPECT_EQ(packed.header("content-encoding"), "gzip");
  EXPECT_LT(packed.body.size(), plain.body.size() / 10);
}

TEST_F(BasicServer, AllowsTheOriginsThatItIsToldTo) {
  options.cors_origins = {"https://app.example"};
  start();
  RawClient client(port());
  auto reply = client.get("/hello", "Origin: https://app.example\r\n");
  EXPECT_EQ(reply.header("access-control-allow-origin"), "https://app.example");
  EXPECT_EQ(reply.header("vary"), "Origin");
  EXPECT_EQ(client.get("/hello", "Origin: https://evil.example\r\n").header("access-control-allow-origin"),
            "");
  auto preflight = client.request(
      "OPTIONS /echo/x HTTP/1.1\r\nHost: test\r\nOrigin: "
      "https://app.example\r\nAccess-Control-Request-Method: "
      "POST\r\nAccess-Control-Request-Headers: authorization\r\n\r\n");
  EXPECT_EQ(preflight.status, 204);
  EXPECT_NE(preflight.header("access-control-allow-methods").find("POST"), std::string::npos);
  EXPECT_EQ(preflight.header("access-control-allow-headers"), "authorization");
}

TEST_F(BasicServer, SendsNoCorsHeadersUnlessTold) {
  start();
  RawClient client(port());
  EXPECT_EQ(client.get("/hello", "Origin: https://app.example\r\n").header("access-control-allow-origin"),
            "");
}

TEST_F(BasicServer, PutsErrorsIntoTheShapeThatItIsGiven) {
  options.error_reply = [](const Request& request, const Error& error) {
    return Reply::text("custom " + error.message() + request.path, "text/plain", error.http_status());
  };
  start();
  RawClient client(port());
  auto reply = client.get("/throws");
  EXPECT_EQ(reply.status, 409);
  EXPECT_EQ(reply.body, "custom no/throws");
  EXPECT_EQ(client.get("/nowhere").body.substr(0, 7), "custom ");
}

TEST_F(BasicServer, CountsRequestsByRouteAndClass) {
  start();
  {
    RawClient client(port());
    client.get("/hello");
    client.get("/hello");
    client.get("/nowhere");
    EXPECT_NE(metrics.render().find("sandkeep_http_connections_open 1"), std::string::npos);
  }
  server->stop(std::chrono::seconds(10));
  auto text = metrics.render();
  EXPECT_NE(text.find("sandkeep_http_requests_total{method=\"GET\",route=\"/hello\",status=\"2xx\"} 2"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("sandkeep_http_requests_total{method=\"none\",route=\"none\",status=\"4xx\"} 1"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("sandkeep_http_request_seconds_count{method=\"GET\",route=\"/hello\"} 2"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("sandkeep_http_connections_open 0"), std::string::npos) << text;
}

}  // namespace
}  // namespace sk::http
