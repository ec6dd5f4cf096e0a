#include "cli/commands/greeting.h"

#include <gtest/gtest.h>

namespace sk::cli {
namespace {

GreetingFacts facts() {
  return {.url = "http://127.0.0.1:8420",
          .public_url = "",
          .data_folder = "/srv/keep",
          .made_key = "skey_secret",
          .key_file = "/srv/keep/root.key",
          .key_from = "",
          .authority_file = "",
          .code = ""};
}

TEST(Greeting, TheFirstLineSaysReadyAndWhere) {
  EXPECT_TRUE(greeting(facts()).starts_with("ready http://127.0.0.1:8420\n"));
}

TEST(Greeting, EveryDialectHasItsAddress) {
  for (const char* name : {"OpenAI", "MCP", "Azure", "Foundry", "LibreChat"})
    EXPECT_NE(greeting(facts()).find(std::string("\n  ") + name + " "), std::string::npos) << name;
}

TEST(Greeting, AKeyIsShownOnlyWhenItWasMadeNow) {
  EXPECT_NE(greeting(facts()).find("skey_secret"), std::string::npos);
  auto later = facts();
  later.made_key = std::nullopt;
  auto text = greeting(later);
  EXPECT_EQ(text.find("skey_"), std::string::npos);
  EXPECT_NE(text.find("$(cat /srv/keep/root.key)"), std::string::npos);
}

TEST(Greeting, SaysWhenLimitsAreApproximate) {
  auto with = facts();
  with.code = "approximate limits";
  EXPECT_NE(greeting(with).find("\n  code       approximate limits\n"), std::string::npos);
  EXPECT_EQ(greeting(facts()).find("\n  code "), std::string::npos);
}

TEST(Greeting, AServerOnAllAddressesIsReachedOnThisOne) {
  EXPECT_EQ(reachable_url("http://0.0.0.0:80"), "http://127.0.0.1:80");
  EXPECT_EQ(reachable_url("https://[::]:80"), "https://[::1]:80");
  EXPECT_EQ(reachable_url("http://10.0.0.1:80"), "http://10.0.0.1:80");
}

TEST(Greeting, SelfSignedTlsComesWithTheLineThatTrustsIt) {
  auto tls = facts();
  tls.authority_file = "/srv/my keep/tls/ca.pem";
  auto text = greeting(tls);
  EXPECT_NE(text.find("sudo cp '/srv/my keep/tls/ca.pem' /usr/local/share/ca-certificates/sandkeep.crt"),
            std::string::npos);
  EXPECT_NE(text.find("--cacert \"$SANDKEEP_CA_FILE\""), std::string::npos);
}

TEST(Greeting, PathsAreQuotedForTheShell) {
  EXPECT_EQ(shell_word("/plain/path-1.key"), "/plain/path-1.key");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("$(rm x)"), "'$(rm x)'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace sk::cli
