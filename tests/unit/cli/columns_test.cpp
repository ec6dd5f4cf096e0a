#include "cli/frame/columns.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace sk::cli {
namespace {

std::string plain(Style, std::string_view text) { return std::string(text); }

TEST(Columns, CellsAreAlignedTwoSpacesApart) {
  Table table({Align::left, Align::right, Align::left});
  table.add({"a", "1", "x"});
  table.add({"bbb", "100", "y"});
  EXPECT_EQ(table.lines(plain), (std::vector<std::string>{"a      1  x", "bbb  100  y"}));
}

TEST(Columns, ThereAreNoTrailingSpacesAndNoEmptyColumns) {
  Table table({Align::left, Align::left, Align::left});
  table.add({"a", "", ""});
  table.add({"bbb", "", "z"});
  EXPECT_EQ(table.lines(plain), (std::vector<std::string>{"a", "bbb  z"}));
}

TEST(Columns, ColourDoesNotCountAsWidth) {
  Table table({Align::left, Align::left});
  table.add({{"a", Style::red}, "x"});
  table.add({"bb", "y"});
  auto loud = [](Style style, std::string_view text) {
    return style == Style::red ? "<<<" + std::string(text) + ">>>" : std::string(text);
  };
  EXPECT_EQ(table.lines(loud), (std::vector<std::string>{"<<<a>>>   x", "bb  y"}));
}

TEST(Columns, WideAndCombiningCharactersAreCountedAsATerminalDoes) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("größe"), 5u);
  EXPECT_EQ(display_width("数据"), 4u);
  EXPECT_EQ(display_width("e\u0301"), 1u);
  EXPECT_EQ(display_width("😀"), 2u);
  Table table({Align::left, Align::left});
  table.add({"数据", "x"});
  table.add({"abcd", "y"});
  EXPECT_EQ(table.lines(plain), (std::vector<std::string>{"数据  x", "abcd  y"}));
}

TEST(Columns, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("plain ü 数 text"), "plain ü 数 text");
  EXPECT_EQ(printable("\x1b[2Jgone"), "\\x1b[2Jgone");
  EXPECT_EQ(printable("two\nlines\t"), "two\\x0alines\\x09");
  EXPECT_EQ(printable("del\x7f"), "del\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"), "\\xc2\\x9b") << "C1's CSI is an escape sequence too";
  EXPECT_EQ(printable("gpj\u202Eexe"), "gpj\\xe2\\x80\\xaeexe") << "text that runs backwards";
}

TEST(Columns, BytesThatAreNotUtf8AreShownAsBytes) {
  EXPECT_EQ(printable("a\xFF"), "a\\xff");
  EXPECT_EQ(printable("a\xE2\x82"), "a\\xe2\\x82");
  EXPECT_TRUE(is_utf8(printable("\x80\xC0\xAF")));
}

TEST(Columns, TextIsWrappedAtSpaces) {
  EXPECT_EQ(wrap("one two three", 100, 0), "one two three");
  EXPECT_EQ(wrap("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(wrap("one a-very-long-word two", 8, 1), "one\n a-very-long-word\n two");
  EXPECT_EQ(wrap("", 10, 4), "");
}

TEST(Columns, TextIsCutBetweenCharacters) {
  EXPECT_EQ(cut_to_width("größe", 3), "grö");
  EXPECT_EQ(cut_to_width("数据", 3), "数");
  EXPECT_EQ(cut_to_width("abc", 10), "abc");
  EXPECT_EQ(cut_to_width("abc", 0), "");
}

}  // namespace
}  // namespace sk::cli
