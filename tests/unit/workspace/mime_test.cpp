#include "workspace/mime.h"

#include <gtest/gtest.h>

namespace sk::workspace {
namespace {

TEST(Mime, TheNameDecidesWhereItSaysEnough) {
  EXPECT_EQ(guess_mime("a/Table.CSV", "\x89PNG"), "text/csv");
  EXPECT_EQ(guess_mime("plot.png", ""), "image/png");
  EXPECT_EQ(guess_mime("raw.bin", "plain words"), "application/octet-stream");
}

TEST(Mime, TextWithoutATellingNameIsPlainText) {
  EXPECT_EQ(guess_mime("README", "Some words.\n"), "text/plain");
  EXPECT_EQ(guess_mime("import", "import this; class x:\n"), "text/plain");
  EXPECT_EQ(guess_mime("accents", "déjà vu"), "text/plain");
}

TEST(Mime, ACharacterCutAtTheEndOfTheHeadIsStillText) {
  std::string text = "vu déj\xc3\xa0";
  EXPECT_EQ(guess_mime("cut", text.substr(0, text.size() - 1)), "text/plain");
}

TEST(Mime, WhatIsNotPlainTextIsToldByItsBytes) {
  EXPECT_EQ(guess_mime("image", std::string_view("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16)), "image/png");
  EXPECT_EQ(guess_mime("page", "<!DOCTYPE html><html><body>x</body></html>"), "text/html");
  EXPECT_EQ(guess_mime("paper", "%PDF-1.7\n"), "application/pdf");
  EXPECT_EQ(guess_mime("noise", std::string_view("\0\1\2\3\xff\xfe", 6)), "application/octet-stream");
  EXPECT_EQ(guess_mime("nothing", ""), "application/octet-stream");
}

}  // namespace
}  // namespace sk::workspace
