#include "base/text.h"

#include <gtest/gtest.h>
#include "support/property.h"

namespace sk {
namespace {

RC_GTEST_PROP(TextProperty, HexAndBothBase64ReadBackTheSameBytes, (const std::string& bytes)) {
  RC_ASSERT(from_hex(to_hex(as_bytes(bytes))) == bytes);
  RC_ASSERT(from_base64url(to_base64url(as_bytes(bytes))) == bytes);
  RC_ASSERT(from_base64(to_base64(as_bytes(bytes))) == bytes);
}

RC_GTEST_PROP(TextProperty, WhatBase64UrlAcceptsItWouldHaveWritten, (const std::string& text)) {
  auto bytes = from_base64url(text);
  if (bytes) RC_ASSERT(to_base64url(as_bytes(*bytes)) == text);
}

RC_GTEST_PROP(TextProperty, PercentEncodingReadsBackTheSameBytes, (const std::string& bytes)) {
  RC_ASSERT(percent_decode(percent_encode(bytes)) == bytes);
  RC_ASSERT(percent_decode(percent_encode_path(bytes)) == bytes);
}

TEST(Text, Base64MatchesTheVectorsOfRfc4648) {
  EXPECT_EQ(to_base64(as_bytes("")), "");
  EXPECT_EQ(to_base64(as_bytes("f")), "Zg==");
  EXPECT_EQ(to_base64(as_bytes("fo")), "Zm8=");
  EXPECT_EQ(to_base64(as_bytes("foobar")), "Zm9vYmFy");
  EXPECT_EQ(to_base64url(as_bytes("fo")), "Zm8");
  EXPECT_EQ(to_base64url(as_bytes("\xFB\xFF")), "-_8");
}

TEST(Text, Base64RefusesWhatIsNotCanonical) {
  EXPECT_FALSE(from_base64("Zg")) << "padding is missing";
  EXPECT_FALSE(from_base64("Zg=")) << "padding is short";
  EXPECT_FALSE(from_base64("Zh==")) << "bits beyond the last byte are set";
  EXPECT_FALSE(from_base64("Z===")) << "one character is less than a byte";
  EXPECT_FALSE(from_base64("-_8="));
  EXPECT_FALSE(from_base64("Zm9v\n"));
  EXPECT_FALSE(from_base64url("Zm8="));
  EXPECT_FALSE(from_base64url("Z"));
  EXPECT_FALSE(from_base64url("+/8"));
}

TEST(Text, HexRefusesOddLengthAndOtherLetters) {
  EXPECT_EQ(from_hex("00fFaB"), std::string("\x00\xFF\xAB", 3));
  EXPECT_FALSE(from_hex("0"));
  EXPECT_FALSE(from_hex("0g"));
  EXPECT_FALSE(from_hex("0x10"));
}

TEST(Text, PercentEncodingKeepsOnlyUnreservedCharacters) {
  EXPECT_EQ(percent_encode("a b/ü~"), "a%20b%2F%C3%BC~");
  EXPECT_EQ(percent_encode_path("a b/ü"), "a%20b/%C3%BC");
  EXPECT_EQ(percent_decode("a%2fb+c"), "a/b+c") << "'+' is a space in queries only";
}

TEST(Text, PercentDecodingRefusesMalformedEscapes) {
  EXPECT_FALSE(percent_decode("%"));
  EXPECT_FALSE(percent_decode("a%4"));
  EXPECT_FALSE(percent_decode("%zz"));
  EXPECT_FALSE(percent_decode("%%41"));
  EXPECT_EQ(percent_decode("%41"), "A");
}

TEST(Text, Utf8IsAcceptedAtTheEdgesOfEachLength) {
  for (const char* good : {"", "plain", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
                           "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "報告.csv"})
    EXPECT_TRUE(is_utf8(good)) << good;
}

TEST(Text, Utf8RefusesOverlongSurrogateTruncatedAndBeyond) {
  for (const char* bad : {"\x80", "\xC0\xAF", "\xC1\xBF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF0\x80\x80\xAF",
                          "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xFF", "\xC3", "\xE2\x82", "a\xC3z"})
    EXPECT_FALSE(is_utf8(bad)) << to_hex(as_bytes(bad));
}

TEST(Text, SizesAreBinaryUnlessTheUnitIsDecimal) {
  EXPECT_EQ(parse_size("1536"), 1536u);
  EXPECT_EQ(parse_size("4k"), 4096u);
  EXPECT_EQ(parse_size("50 GiB"), 50ull << 30);
  EXPECT_EQ(parse_size("1.5MB"), 1'500'000u);
  EXPECT_EQ(parse_size("2 kB"), 2000u);
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size(" 7 B "), 7u);
}

TEST(Text, SizesThatMakeNoSenseAreRefused) {
  for (const char* bad : {"", "GiB", "-1", "1 2", "1.2.3", "5 parsecs", "1kiBB", "99999999999999999999",
                          "9000 PiB", ".", "1e9"})
    EXPECT_FALSE(parse_size(bad)) << bad;
}

TEST(Text, HumanSizesAreShort) {
  EXPECT_EQ(human_size(0), "0 B");
  EXPECT_EQ(human_size(1023), "1023 B");
  EXPECT_EQ(human_size(1536), "1.5 KiB");
  EXPECT_EQ(human_size(50ull << 30), "50.0 GiB");
  EXPECT_EQ(human_size(500ull << 20), "500 MiB");
}

TEST(Text, WholeNumbersOnlyAndNoOverflow) {
  EXPECT_EQ(parse_unsigned("18446744073709551615"), UINT64_MAX);
  for (const char* bad :
       {"", "18446744073709551616", "-1", "+1", " 1", "1 ", "1.0", "0x1", "000000000000000000000"})
    EXPECT_FALSE(parse_unsigned(bad)) << bad;
}

TEST(Text, SplittingKeepsEmptyParts) {
  EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string_view>{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
}

TEST(Text, TrimmingTakesBlanksFromBothEndsOnly) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

TEST(Text, EditDistanceCountsInsertionsDeletionsAndReplacements) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", "abc"), 0u);
}

TEST(Text, LowerCaseTouchesAsciiOnly) { EXPECT_EQ(ascii_lower("ÄBC-Z"), "Äbc-z"); }

TEST(Text, HtmlIsEscapedInTextAndAttributes) {
  EXPECT_EQ(html_escape("<a href=\"x\" title='y'>&"), "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;");
}

}  // namespace
}  // namespace sk
