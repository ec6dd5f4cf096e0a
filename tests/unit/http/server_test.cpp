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

TEST_F(BasicServer, answers_a_request_with_its_id_and_keeps_the_connection) {
  start();
  RawClient client(port());
  for (int i = 0; i < 3; ++i) {
    auto reply = client.get("/hello");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, "hello");
    EXPECT_TRUE(reply.header("x-request-id").starts_with("req_"));
  }
}

TEST_F(BasicServer, decodes_path_parameters_and_query) {
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

TEST_F(BasicServer, buffers_a_body_up_to_the_routes_limit) {
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

TEST_F(BasicServer, turns_errors_into_json_with_the_request_id) {
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

TEST_F(BasicServer, hides_what_an_unexpected_exception_says) {
  start();
  RawClient client(port());
  auto reply = client.get("/breaks");
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(parse_json(reply.body)["error"]["code"], "internal");
  EXPECT_EQ(reply.body.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace sk::http
