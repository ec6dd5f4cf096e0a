#include <gtest/gtest.h>
#include "support/property.h"

#include "base/text.h"
#include "http/server.h"

namespace sk::http {
namespace {

Handler nothing() {
  return [](Request&) { return Reply::empty(); };
}

Router make_router(const std::vector<std::pair<std::string, std::string>>& routes) {
  Router router;
  for (const auto& [method, pattern] : routes) router.add(method, pattern, nothing());
  return router;
}

std::string matched(const Router& router, std::string_view method, std::string_view path) {
  auto match = router.match(method, path);
  return match.route ? match.route->pattern : "";
}

TEST(Router, FindsParametersAndTheRest) {
  auto router = make_router({{"GET", "/api/{ws}/files/{path...}"}, {"GET", "/"}, {"GET", "/api/{ws}"}});
  auto match = router.match("GET", "/api/a%20b/files/x/y%2Fz");
  ASSERT_NE(match.route, nullptr);
  EXPECT_EQ(match.params.at("ws"), "a b");
  EXPECT_EQ(match.params.at("path"), "x/y/z");
  EXPECT_EQ(matched(router, "GET", "/"), "/");
  EXPECT_EQ(matched(router, "GET", "/api/one"), "/api/{ws}");
}

TEST(Router, TakesAnEmptyRestWithAndWithoutTheSlash) {
  auto router = make_router({{"GET", "/files/{path...}"}});
  for (auto path : {"/files", "/files/"}) {
    auto match = router.match("GET", path);
    ASSERT_NE(match.route, nullptr) << path;
    EXPECT_EQ(match.params.at("path"), "");
  }
  EXPECT_EQ(router.match("GET", "/files/a/").params.at("path"), "a/");
  EXPECT_EQ(router.match("GET", "/files//a").params.at("path"), "/a");
}

TEST(Router, PrefersALiteralToAParameterAndAParameterToTheRest) {
  auto router = make_router({{"GET", "/a/{x}"}, {"GET", "/a/b"}, {"GET", "/a/{rest...}"}});
  EXPECT_EQ(matched(router, "GET", "/a/b"), "/a/b");
  EXPECT_EQ(matched(router, "GET", "/a/c"), "/a/{x}");
  EXPECT_EQ(matched(router, "GET", "/a/c/d"), "/a/{rest...}");
}

TEST(Router, LeavesABranchThatLacksTheMethod) {
  auto router = make_router({{"POST", "/a/b"}, {"GET", "/a/{x}"}, {"GET", "/a/b/c"}});
  EXPECT_EQ(matched(router, "GET", "/a/b"), "/a/{x}");
  EXPECT_EQ(matched(router, "POST", "/a/b"), "/a/b");
}

TEST(Router, ServesHeadByGet) {
  auto router = make_router({{"GET", "/a"}, {"PUT", "/b"}});
  EXPECT_EQ(matched(router, "HEAD", "/a"), "/a");
  EXPECT_EQ(matched(router, "HEAD", "/b"), "");
}

TEST(Router, ListsTheAllowedMethodsWhenTheMethodIsNotKnown) {
  auto router = make_router({{"GET", "/a/{x}"}, {"PUT", "/a/b"}, {"DELETE", "/c"}});
  auto match = router.match("POST", "/a/b");
  EXPECT_EQ(match.route, nullptr);
  std::sort(match.allowed.begin(), match.allowed.end());
  EXPECT_EQ(match.allowed, (std::vector<std::string>{"GET", "HEAD", "PUT"}));
  EXPECT_TRUE(router.match("GET", "/nowhere").allowed.empty());
}

TEST(Router, DoesNotMatchAParameterWithNothing) {
  auto router = make_router({{"GET", "/a/{x}/b"}});
  EXPECT_EQ(matched(router, "GET", "/a//b"), "");
}

TEST(Router, RefusesMalformedEscapesAndNul) {
  auto router = make_router({{"GET", "/a/{x}"}});
  for (auto path : {"/a/%", "/a/%2", "/a/%zz", "/a/%00", "/a/x%00y", "a", ""}) {
    try {
      router.match("GET", path);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::bad_request) << path;
    }
  }
}

TEST(Router, GivesBackAnySegmentThatWasEncoded) {
  auto router = make_router({{"GET", "/a/{x}/b/{rest...}"}});
  bool holds = test::check_property("a parameter survives encoding",
                                    [&](const std::string& x, const std::vector<std::string>& rest) {
                                      RC_PRE(!x.empty() && x.find('\0') == std::string::npos);
                                      std::string path = "/a/" + percent_encode(x) + "/b";
                                      std::string expected;
                                      for (const auto& part : rest) {
                                        RC_PRE(part.find('\0') == std::string::npos);
                                        path += "/" + percent_encode(part);
                                        expected += (&part == &rest.front() ? "" : "/") + part;
                                      }
                                      auto match = router.match("GET", path);
                                      RC_ASSERT(match.route != nullptr);
                                      RC_ASSERT(match.params.at("x") == x);
                                      RC_ASSERT(match.params.at("rest") == expected);
                                    });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace sk::http
