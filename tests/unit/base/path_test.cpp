#include "base/path.h"

#include <gtest/gtest.h>
#include "support/property.h"

#include "base/error.h"
#include "base/text.h"

namespace sk {
namespace {

TEST(Path, CleaningDropsSuperfluousSlashes) {
  EXPECT_EQ(clean_path("/a//b/"), "a/b");
  EXPECT_EQ(clean_path(""), "");
  EXPECT_EQ(clean_path("///"), "");
}

TEST(Path, DotsNulAndLongNamesAreRefused) {
  for (std::string_view bad : std::initializer_list<std::string_view>{"..", "a/../b", ".", "a/./b", "a/..",
                                                                      std::string_view("a\0b", 3)})
    EXPECT_THROW(clean_path(bad), Error) << bad;
  EXPECT_THROW(clean_path(std::string(256, 'x')), Error);
  EXPECT_NO_THROW(clean_path(std::string(255, 'x')));
  std::string deep;
  for (int i = 0; i < 1025; ++i) deep += "a/";
  EXPECT_THROW(clean_path(deep), Error);
  EXPECT_THROW(clean_file_path("/"), Error);
}

TEST(Path, AnyBytesSurviveEscapingAndBack) {
  EXPECT_TRUE(test::check_property("unescape(escape(x)) == x, and the escaped name is UTF-8",
                                   [](const std::string& raw) {
                                     std::string name = escape_name(raw);
                                     RC_ASSERT(is_utf8(name));
                                     RC_ASSERT(unescape_name(name) == raw);
                                   }));
}

TEST(Path, CleaningAcceptsEscapedNamesUnchanged) {
  for (std::string raw : {std::string("caf\xe9"), std::string("\xf4\x8f\xbe\x80"), std::string("日本語"),
                          std::string("\xff\xfe")}) {
    std::string name = escape_name(raw);
    EXPECT_EQ(clean_path(name), name);
  }
}

TEST(Path, ANameOf255BytesThatAreNotUtf8IsShortEnough) {
  std::string raw(255, '\xff');
  EXPECT_EQ(unescape_name(clean_path(raw)), raw);
}

TEST(Path, UnicodeNamesStayAsTheyAre) { EXPECT_EQ(clean_path("今週/наука/🎈.txt"), "今週/наука/🎈.txt"); }

TEST(Path, WithinIsAboutWholeNames) {
  EXPECT_TRUE(is_within("a/b", "a"));
  EXPECT_TRUE(is_within("a", "a"));
  EXPECT_TRUE(is_within("a", ""));
  EXPECT_FALSE(is_within("ab", "a"));
  EXPECT_FALSE(is_within("a", "a/b"));
}

TEST(Path, GlobsMatchAsShellsDo) {
  EXPECT_TRUE(glob_match("*.csv", "data/a.csv"));
  EXPECT_FALSE(glob_match("*.csv", "data/a.csv.gz"));
  EXPECT_TRUE(glob_match("data/*.csv", "data/a.csv"));
  EXPECT_FALSE(glob_match("data/*.csv", "data/x/a.csv"));
  EXPECT_TRUE(glob_match("data/**/*.csv", "data/x/y/a.csv"));
  EXPECT_TRUE(glob_match("data/**/*.csv", "data/a.csv"));
  EXPECT_TRUE(glob_match("**", "a/b/c"));
  EXPECT_TRUE(glob_match("plot-[0-9].png", "plot-3.png"));
  EXPECT_FALSE(glob_match("plot-[!0-9].png", "plot-3.png"));
  EXPECT_TRUE(glob_match("?.txt", "a.txt"));
  EXPECT_TRUE(glob_match("?.txt", "é.txt"));
  EXPECT_TRUE(glob_match("??.txt", "日本.txt"));
  EXPECT_FALSE(glob_match("??.txt", "é.txt"));
  EXPECT_TRUE(glob_match("[äöü].txt", "ö.txt"));
  EXPECT_FALSE(glob_match("[äöü].txt", "ß.txt"));
  EXPECT_TRUE(glob_match("[!a-z].txt", "é.txt"));
  EXPECT_TRUE(glob_match("[à-ÿ].txt", "é.txt"));
  EXPECT_FALSE(glob_match("[à-ÿ].txt", "e.txt"));
  EXPECT_TRUE(glob_match("[a-].txt", "-.txt"));
  EXPECT_TRUE(glob_match("*\xC3.txt", std::string("a\xC3.txt")));
  EXPECT_TRUE(glob_match("a[", "a["));
  EXPECT_TRUE(glob_match("[]a].txt", "].txt"));
  EXPECT_FALSE(glob_match("[!]a].txt", "].txt"));
  EXPECT_TRUE(glob_match("[a-]", "-"));
  EXPECT_FALSE(glob_match("a[!x]b", "a/b"));
  EXPECT_TRUE(glob_match("a/**", "a/b/c"));
  EXPECT_FALSE(glob_match("a/**", "b/a/c"));
  EXPECT_TRUE(glob_match("**/c", "a/b/c"));
  EXPECT_TRUE(glob_match("**/c", "c"));
  EXPECT_FALSE(glob_match("**/c", "a/bc"));
  EXPECT_TRUE(glob_match("a*c", "abbc"));
  EXPECT_FALSE(glob_match("a*c/", "abbc"));
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_FALSE(glob_match("", "a"));
}

TEST(Path, AHostileGlobEndsQuickly) {
  std::string pattern, path(2000, 'a');
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(glob_match(pattern + "b", path));
  std::string folders;
  pattern.clear();
  for (int i = 0; i < 200; ++i) pattern += "**/", folders += "a/";
  EXPECT_FALSE(glob_match(pattern + "b", folders + "a"));
  EXPECT_FALSE(glob_match(std::string(200, '?') + std::string(200, '*') + "b", path));
}

}  // namespace
}  // namespace sk
