#include "bridge/upstream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace sk::bridge {
namespace {

using testing::ElementsAre;
using Outcome = Fetched::Outcome;

Json source(const std::string& base_url) {
  return {{"kind", "openai"}, {"base_url", base_url}, {"key", "sk-1"}};
}

TEST(Source, IsReadAndItsAddressIsCleaned) {
  auto read = parse_source(source("https://api.openai.com/v1/"), PlainHttp::refused);
  EXPECT_EQ(read.base_url, "https://api.openai.com/v1");
  EXPECT_EQ(read.key, "sk-1");
  EXPECT_EQ(parse_source(source("http://127.0.0.1:1/v1"), PlainHttp::allowed).base_url,
            "http://127.0.0.1:1/v1");
}

TEST(Source, ErrorsNeverShowTheKey) {
  auto bad = source("https://x");
  bad["key"] = "very secret\n";
  try {
    parse_source(bad, PlainHttp::refused);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message().find("secret"), std::string::npos);
  }
}

TEST(Source, AddressesThatMisleadAreRefused) {
  for (const char* url : {"https://user:pw@host/v1", "https://api.openai.com@evil/v1", "https://host/v1?x=1",
                          "https://host/v1#f", "file:///etc/passwd", "https://", "gopher://host",
                          "https://ho st/", "https://host\\@evil/", ""})
    EXPECT_THROW(parse_source(source(url), PlainHttp::allowed), Error) << url;
  EXPECT_THROW(parse_source(source("http://host/v1"), PlainHttp::refused), Error);
}

TEST(Source, OriginsAreComparedWithTheirPorts) {
  EXPECT_EQ(origin_of_url("HTTPS://Host:8443/a/b?c"), "https://host:8443");
  EXPECT_EQ(origin_of_url("https://host?x"), "https://host");
  EXPECT_NE(origin_of_url("https://host"), origin_of_url("http://host"));
  EXPECT_NE(origin_of_url("https://host"), origin_of_url("https://host.evil"));
  EXPECT_EQ(origin_of_url("/path"), "");
}

TEST(Redirects, LeadFromHttpsToHttpsOnly) {
  RemoteOptions everywhere{}, outside{};
  everywhere.allow_private = true;
  EXPECT_TRUE(may_follow("https://a.example", "https://b.example/x", outside));
  EXPECT_TRUE(may_follow("http://a.example", "http://b.example/x", outside));
  EXPECT_TRUE(may_follow("http://a.example", "https://b.example/x", outside));
  EXPECT_FALSE(may_follow("https://a.example", "http://a.example/x", outside));
  EXPECT_TRUE(may_follow("https://a.example", "http://a.example/x", everywhere));
  for (const char* nowhere : {"", "ftp://a.example/x", "file:///etc/passwd", "javascript:1"})
    EXPECT_FALSE(may_follow("https://a.example", nowhere, everywhere)) << nowhere;
}

TEST(Foundry, IsTriedThroughTheProjectAndThroughTheAccount) {
  EXPECT_THAT(foundry_endpoints("https://a.services.ai.azure.com/api/projects/p"),
              ElementsAre("https://a.services.ai.azure.com/api/projects/p/openai/v1",
                          "https://a.services.ai.azure.com/openai/v1"));
  EXPECT_THAT(foundry_endpoints("https://a/api/projects/p/openai/v1"),
              ElementsAre("https://a/api/projects/p/openai/v1", "https://a/openai/v1"));
  EXPECT_THAT(foundry_endpoints("https://a.openai.azure.com"),
              ElementsAre("https://a.openai.azure.com/openai/v1"));
  EXPECT_THAT(foundry_endpoints("https://a.openai.azure.com/openai/v1"),
              ElementsAre("https://a.openai.azure.com/openai/v1"));
}

TEST(Verdict, SaysNeverMoreThanTheAnswerProves) {
  EXPECT_EQ(verdict_on({200, "", ""}), Outcome::ok);
  EXPECT_EQ(verdict_on({404, "", "it answered 404"}), Outcome::gone);
  EXPECT_EQ(verdict_on({400, "", "it answered 400: Container is expired."}), Outcome::gone);
  EXPECT_EQ(verdict_on({400, "", "it answered 400: bad id"}), Outcome::cannot_tell);
  EXPECT_EQ(verdict_on({401, "", ""}), Outcome::denied);
  EXPECT_EQ(verdict_on({403, "", ""}), Outcome::denied);
  for (int status : {0, 302, 429, 500, 502, 503})
    EXPECT_EQ(verdict_on({status, "", ""}), Outcome::cannot_tell);
}

WantedFile wanted(std::string file_id, std::string name, std::vector<std::string> paths) {
  return {"cntr_1", std::move(file_id), std::move(name), std::move(paths), ""};
}

const std::string kUploadPrefix = "0123456789abcdef0123456789abcdef-";

TEST(Listing, OtherFilesOfTheSameNameAreNotMeant) {
  std::vector<ListedFile> listed = {{"cfile_1", "reports/q1.csv"}, {"cfile_2", "q2.csv"}};
  auto meant = [&](const WantedFile& file) {
    const auto* found = find_meant(file, listed);
    return found ? found->path : std::string("none");
  };
  EXPECT_EQ(meant(wanted("", "q1.csv", {"q1.csv"})), "none") << "it lies in another folder";
  EXPECT_EQ(meant(wanted("cfile_9", "q2.csv", {"old/q2.csv"})), "none");
  EXPECT_EQ(meant(wanted("", "q2.csv", {"q2%2Ecsv", "q2.csv"})), "q2.csv");
  EXPECT_EQ(meant(wanted("cfile_1", "x", {"q2.csv"})), "reports/q1.csv") << "an id is surer than a path";
  EXPECT_EQ(meant(wanted("cfile_9", "q1.csv", {})), "reports/q1.csv") << "cited without a path";
  listed.push_back({"cfile_3", "q1.csv"});
  EXPECT_EQ(meant(wanted("", "q1.csv", {})), "none") << "one of two, and nobody can say which";
}

TEST(Listing, ThePrefixOfUploadsIsLeftOutByModels) {
  std::vector<ListedFile> listed = {{"cfile_1", kUploadPrefix + "in.csv"},
                                    {"cfile_2", "sub/" + kUploadPrefix + "deep.csv"},
                                    {"cfile_3", "cafe-menu.csv"}};
  auto meant = [&](const std::string& path) {
    const auto* found = find_meant(wanted("", path.substr(path.rfind('/') + 1), {path}), listed);
    return found ? found->id : std::string("none");
  };
  EXPECT_EQ(meant("in.csv"), "cfile_1");
  EXPECT_EQ(meant("sub/deep.csv"), "cfile_2");
  EXPECT_EQ(meant("deep.csv"), "none");
  EXPECT_EQ(meant("sub/in.csv"), "none");
  EXPECT_EQ(meant("menu.csv"), "none") << "a name may begin with digits of its own";
  listed.push_back({"cfile_4", "in.csv"});
  EXPECT_EQ(meant("in.csv"), "cfile_4") << "what is there by that very name comes first";
}

TEST(PatienceTest, EndsWhenTheServerStops) {
  StopSignal signal;
  Patience patience(signal, std::chrono::hours(1));
  EXPECT_FALSE(patience.is_over());
  EXPECT_FALSE(patience.pause(std::chrono::hours(2)));
  signal.stop();
  EXPECT_TRUE(patience.is_over());
  EXPECT_FALSE(patience.pause(std::chrono::minutes(30)));
}

}  // namespace
}  // namespace sk::bridge
