#include "cli/client/remote_path.h"

#include <gtest/gtest.h>

#include "cli/client/local_files.h"
#include "support/expect_error.h"

namespace sk::cli {
namespace {

TEST(RemotePath, ABarePathIsMeantInTheDefaultWorkspace) {
  auto found = parse_remote_path("data/report.csv");
  EXPECT_EQ(found.workspace, "");
  EXPECT_EQ(found.path, "data/report.csv");
  EXPECT_FALSE(found.as_folder);
}

TEST(RemotePath, AWorkspaceStandsBeforeTheFirstColon) {
  auto found = parse_remote_path("team:plans/q1.md");
  EXPECT_EQ(found.workspace, "team");
  EXPECT_EQ(found.path, "plans/q1.md");
}

TEST(RemotePath, AColonBehindASlashIsPartOfTheName) {
  auto found = parse_remote_path("logs/10:30.txt");
  EXPECT_EQ(found.workspace, "");
  EXPECT_EQ(found.path, "logs/10:30.txt");
}

TEST(RemotePath, AnEmptyWorkspaceNamesTheDefaultOneForFilesWithAColon) {
  auto found = parse_remote_path(":10:30.txt");
  EXPECT_EQ(found.workspace, "");
  EXPECT_EQ(found.path, "10:30.txt");
}

TEST(RemotePath, TheRootAndATrailingSlashMeanAFolder) {
  for (auto text : {"", "/", "team:", "team:/"}) {
    EXPECT_TRUE(parse_remote_path(text).as_folder) << text;
    EXPECT_TRUE(parse_remote_path(text).is_root()) << text;
  }
  EXPECT_TRUE(parse_remote_path("data/").as_folder);
  EXPECT_EQ(parse_remote_path("data//sub/").path, "data/sub");
}

TEST(RemotePath, APathCannotLeaveTheWorkspace) {
  for (auto text : {"..", "a/../b", "team:../x", "./a", "a/."})
    test::expect_error(Code::bad_request, [&] { parse_remote_path(text); });
}

TEST(RemotePath, APatternIsSplitWhereItsFixedPartEnds) {
  auto check = [](std::string_view path, std::string_view folder, std::string_view pattern, bool across) {
    auto glob = split_glob(path);
    EXPECT_EQ(glob.folder, folder) << path;
    EXPECT_EQ(glob.pattern, pattern) << path;
    EXPECT_EQ(glob.across_folders, across) << path;
  };
  check("data/a.csv", "data/a.csv", "", false);
  check("*.csv", "", "*.csv", false);
  check("data/2026/*.csv", "data/2026", "*.csv", false);
  check("data/*/a.csv", "data", "*/a.csv", true);
  check("data/2026/**/a.csv", "data/2026", "**/a.csv", true);
  check("data/**", "data", "**", true);
  check("**/a.csv", "", "**/a.csv", true);
  check("d[ab]ta/x", "", "d[ab]ta/x", true);
}

TEST(RemotePath, ANameFromTheServerCannotLeaveTheLocalFolder) {
  EXPECT_EQ(local_path_of("data/größe.csv"), "data/größe.csv");
  test::expect_error(Code::bad_request, [&] { local_path_of("../x"); });
  test::expect_error(Code::bad_request, [&] { local_path_of("a/../../x"); });
  test::expect_error(Code::bad_request, [&] { local_path_of("/etc/passwd"); });
  test::expect_error(Code::bad_request, [&] { local_path_of("a//b"); });
  // Bytes that are not UTF-8 are escaped as U+10FF80 and above; a dot or slash written that way stays what it
  // is written as.
  EXPECT_EQ(local_path_of("a\U0010FFFFb"),
            "a\xFF"
            "b");
  EXPECT_EQ(local_path_of("\U0010FF2E\U0010FF2E/x\U0010FF2F"), "\U0010FF2E\U0010FF2E/x\U0010FF2F");
}

}  // namespace
}  // namespace sk::cli
