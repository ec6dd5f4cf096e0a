#include "cli/client/target.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "cli/frame/command.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace sk::cli {
namespace {

Arguments flags(const std::vector<std::string>& words) { return parse_arguments(words, kTargetOptions); }

const SavedLogin kSaved = {"https://keep.example.org", "saved-key", "team", "/etc/ca.pem"};

TEST(Target, WithoutAnythingItIsTheDefaultAddressOfServe) {
  auto target = choose_target(flags({}), {}, std::nullopt);
  EXPECT_EQ(target.server, "http://127.0.0.1:8420");
  EXPECT_TRUE(target.is_guess);
  EXPECT_EQ(target.key, "");
}

TEST(Target, FlagsWinOverTheEnvironmentAndThatOverTheSavedLogin) {
  Environment environment = {
      {"SANDKEEP_SERVER", "http://env:1"}, {"SANDKEEP_KEY", "env-key"}, {"SANDKEEP_WORKSPACE", "env-ws"}};
  auto by_flag = choose_target(flags({"--server", "http://flag:2", "--key", "flag-key", "-w", "flag-ws"}),
                               environment, kSaved);
  EXPECT_EQ(by_flag.server, "http://flag:2");
  EXPECT_EQ(by_flag.key, "flag-key");
  EXPECT_EQ(by_flag.workspace, "flag-ws");
  auto by_environment = choose_target(flags({}), environment, kSaved);
  EXPECT_EQ(by_environment.server, "http://env:1");
  EXPECT_EQ(by_environment.key, "env-key");
  EXPECT_EQ(by_environment.workspace, "env-ws");
  auto saved = choose_target(flags({}), {}, kSaved);
  EXPECT_EQ(saved.server, "https://keep.example.org");
  EXPECT_EQ(saved.key, "saved-key");
  EXPECT_EQ(saved.workspace, "team");
  EXPECT_EQ(saved.ca_file, "/etc/ca.pem");
  EXPECT_FALSE(saved.is_guess);
}

TEST(Target, ASavedKeyGoesToNoOtherServer) {
  auto elsewhere = choose_target(flags({"--server", "http://elsewhere"}), {}, kSaved);
  EXPECT_EQ(elsewhere.key, "");
  EXPECT_EQ(elsewhere.workspace, "");
  EXPECT_EQ(elsewhere.ca_file, "");
  auto same = choose_target(flags({"--server", "https://keep.example.org/"}), {}, kSaved);
  EXPECT_EQ(same.key, "saved-key");
}

TEST(Target, ASavedWorkspaceBelongsToTheSavedKey) {
  auto other_key = choose_target(flags({"--key", "another"}), {}, kSaved);
  EXPECT_EQ(other_key.server, "https://keep.example.org");
  EXPECT_EQ(other_key.workspace, "");
  EXPECT_EQ(other_key.ca_file, "/etc/ca.pem") << "the authority belongs to the server";
}

TEST(Target, AddressesAreCleanedAndWhatIsNoneIsRefused) {
  EXPECT_EQ(clean_server_url("localhost:8420"), "http://localhost:8420");
  EXPECT_EQ(clean_server_url(" https://keep.example.org// "), "https://keep.example.org");
  EXPECT_EQ(clean_server_url("http://[::1]:8420"), "http://[::1]:8420");
  for (auto text :
       {"", "ftp://x", "http://", "http:///x", "http://a b", "file:///etc/passwd", "http://user@host"})
    test::expect_error(Code::bad_request, [&] { clean_server_url(text); });
}

TEST(LoginFile, WhatWasSavedIsReadBackAndNobodyElseMayReadIt) {
  test::TempFolder folder;
  auto path = folder.path() + "/deep/er/config.toml";
  SavedLogin login = {"http://127.0.0.1:1", "key with \"quotes\" and \\", "t", ""};
  write_login(path, login);
  auto found = read_login(path);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->server, login.server);
  EXPECT_EQ(found->key, login.key);
  EXPECT_EQ(found->workspace, "t");
  EXPECT_EQ(found->ca_file, "");
  struct stat facts{};
  ASSERT_EQ(stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST(LoginFile, AFileThatIsNotThereIsNoLoginAndOneThatIsOddIsRefused) {
  test::TempFolder folder;
  EXPECT_FALSE(read_login(folder.path() + "/none.toml"));
  EXPECT_FALSE(read_login(""));
  auto path = folder.path() + "/odd.toml";
  std::ofstream(path) << "sever = \"http://x\"\n";
  test::expect_error(Code::bad_request, [&] { read_login(path); });
}

TEST(LoginFile, ItsPlaceFollowsTheEnvironment) {
  EXPECT_EQ(login_file_path({{"XDG_CONFIG_HOME", "/c"}, {"HOME", "/h"}}), "/c/sandkeep/config.toml");
  EXPECT_EQ(login_file_path({{"HOME", "/h"}}), "/h/.config/sandkeep/config.toml");
  EXPECT_EQ(login_file_path({}), "");
}

}  // namespace
}  // namespace sk::cli
