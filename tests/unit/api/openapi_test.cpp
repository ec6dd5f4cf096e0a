// The OpenAPI document against the routes that the server really has. What it says of answers is checked
// against real ones by tests/e2e.
#include "api/rest/openapi.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "api/app.h"
#include "api/links/links.h"
#include "api/page/page.h"
#include "api/rest/rest.h"
#include "base/text.h"
#include "interpreter/refusing_interpreter.h"
#include "support/keep_options.h"

namespace sk::api {
namespace {

class OpenApi : public ::testing::Test {
 protected:
  OpenApi()
      : folder_(std::filesystem::temp_directory_path() / ("sandkeep-openapi-" + random_base64url(8))),
        keep_(test::keep_options(folder_.string()), clock_, metrics_),
        app_(keep_, interpreter_, DialectSettings{}, metrics_, "1.2.3"),
        routes_(described_, app_) {
    rest::add_routes(routes_);
    links::add_routes(routes_);
    page::add_routes(routes_);
  }
  ~OpenApi() override {
    keep_.stop();
    std::filesystem::remove_all(folder_);
  }

  Json document() { return rest::openapi_document(*routes_.operations(), "1.2.3", "http://here"); }

  const std::filesystem::path folder_;
  SystemClock clock_;
  Metrics metrics_;
  workspace::Keep keep_;
  interpreter::RefusingInterpreter interpreter_{keep_, "this test runs no code"};
  App app_;
  http::Router described_;
  Routes routes_;
};

using MethodAndPath = std::pair<std::string, std::string>;

TEST_F(OpenApi, EveryRouteIsDescribedAndEveryDescriptionIsARoute) {
  std::set<MethodAndPath> routed, described;
  auto router = make_router(app_);
  for (const auto& operation : *routes_.operations())
    described.emplace(operation->method, operation->pattern);
  // Other dialects describe themselves elsewhere: in their vendors' documents.
  for (const auto& route : router.routes()) {
    MethodAndPath one(route->method, route->pattern);
    if (route->pattern.starts_with("/api/v1") || described.contains(one)) routed.insert(one);
  }
  EXPECT_EQ(routed, described);
}

TEST_F(OpenApi, TheDocumentHasEveryOperationThatIsNotAPageAndNoOther) {
  std::set<MethodAndPath> expected, documented;
  for (const auto& operation : *routes_.operations()) {
    if (!operation->hidden)
      expected.emplace(ascii_lower(operation->method), openapi_path(operation->pattern));
    EXPECT_EQ(operation->hidden, operation->tag == "page") << operation->id;
  }
  auto paths = document()["paths"];
  for (const auto& [path, methods] : paths.items()) {
    for (const auto& [method, operation] : methods.items()) documented.emplace(method, path);
  }
  EXPECT_EQ(documented, expected);
}

TEST_F(OpenApi, OperationsHaveNamesOfTheirOwnAndSaySomething) {
  std::set<std::string> ids;
  for (const auto& operation : *routes_.operations()) {
    EXPECT_TRUE(ids.insert(operation->id).second) << operation->id;
    EXPECT_FALSE(operation->summary.empty() || operation->tag.empty() || operation->answers.empty())
        << operation->id;
    for (const auto& field : operation->query + operation->body)
      EXPECT_FALSE(field.about.empty()) << operation->id << " " << field.name;
  }
}

TEST_F(OpenApi, SchemasThatOperationsNameExistAndThoseThatExistAreNamed) {
  auto schemas = rest::answer_schemas();
  std::set<std::string> named = {"Error"};
  for (const auto& operation : *routes_.operations()) {
    for (const auto& answer : operation->answers) {
      if (answer.schema.empty()) continue;
      EXPECT_TRUE(schemas.contains(answer.schema)) << operation->id << " " << answer.schema;
      named.insert(answer.schema);
    }
  }
  auto text = to_text(schemas);
  for (const auto& [name, schema] : schemas.items()) {
    bool referred = text.find("#/components/schemas/" + name + "\"") != std::string::npos;
    EXPECT_TRUE(named.contains(name) || referred) << name;
  }
}

TEST_F(OpenApi, OnlyOperationsThatNeedNoKeySaySo) {
  auto paths = document()["paths"];
  EXPECT_FALSE(paths["/api/v1/me"]["get"].contains("security"));
  EXPECT_TRUE(paths["/api/v1/openapi.json"]["get"]["security"].empty());
  EXPECT_TRUE(paths["/healthz"]["get"].contains("security"));
}

TEST_F(OpenApi, WritesTellOfTheirConditions) {
  auto put = document()["paths"]["/api/v1/workspaces/{ws}/files/{path}"]["put"];
  std::set<std::string> headers;
  for (const auto& parameter : put["parameters"]) {
    if (parameter["in"] == "header") headers.insert(parameter["name"]);
  }
  EXPECT_EQ(headers, (std::set<std::string>{"If-Match", "If-None-Match", "If-Unmodified-Since",
                                            "X-Sandkeep-Lock", "X-Sandkeep-Fence"}));
}

TEST(OpenApiPath, WritesParametersAsTheDocumentDoes) {
  EXPECT_EQ(openapi_path("/api/v1/workspaces/{ws}/files/{path...}"), "/api/v1/workspaces/{ws}/files/{path}");
  EXPECT_EQ(openapi_path("/"), "/");
  EXPECT_EQ(pattern_params("/a/{x}/b/{rest...}"), (std::vector<std::string>{"x", "rest"}));
}

}  // namespace
}  // namespace sk::api
