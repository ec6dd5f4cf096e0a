#include "workspace/mime.h"

#include <gtest/gtest.h>

#include "base/magic.h"

namespace sk::workspace {
namespace {

std::string mime_of(std::string_view name, std::string_view head_bytes) {
  return guess_mime(name, head_bytes, type_by_magic);
}

TEST(Mime, TheNameDecidesWhereItSaysEnough) {
  EXPECT_EQ(mime_of("a/Table.CSV", "\x89PNG"), "text/csv");
  EXPECT_EQ(mime_of("plot.png", ""), "image/png");
  EXPECT_EQ(mime_of("raw.bin", "plain words"), "application/octet-stream");
}

TEST(Mime, TextWithoutATellingNameIsPlainText) {
  EXPECT_EQ(mime_of("README", "Some words.\n"), "text/plain");
  EXPECT_EQ(mime_of("import", "import this; class x:\n"), "text/plain");
  EXPECT_EQ(mime_of("accents", "déjà vu"), "text/plain");
}

TEST(Mime, ACharacterCutAtTheEndOfTheHeadIsStillText) {
  std::string text = "vu déj\xc3\xa0";
  EXPECT_EQ(mime_of("cut", text.substr(0, text.size() - 1)), "text/plain");
}

TEST(Mime, WhatIsNotPlainTextIsToldByItsBytes) {
  EXPECT_EQ(mime_of("image", std::string_view("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16)), "image/png");
  EXPECT_EQ(mime_of("page", "<!DOCTYPE html><html><body>x</body></html>"), "text/html");
  EXPECT_EQ(mime_of("paper", "%PDF-1.7\n"), "application/pdf");
  EXPECT_EQ(mime_of("noise", std::string_view("\0\1\2\3\xff\xfe", 6)), "application/octet-stream");
  EXPECT_EQ(mime_of("nothing", ""), "application/octet-stream");
}

}  // namespace
}  // namespace sk::workspace
