#include "conversations/sandbox_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "support/property.h"

#include <algorithm>
#include <ctime>
#include <random>

#include "base/path.h"
#include "base/text.h"
#include "conversations/markdown.h"
#include "conversations/markdown_parts.h"
#include "conversations/rewriting.h"
#include "workspace/spelling.h"

namespace sk::conversations {
namespace {

using Form = SandboxLink::Form;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> addresses(std::string_view text) {
  std::vector<std::string> out;
  for (const auto& link : find_sandbox_links(text)) out.push_back(link.address);
  return out;
}

TEST(SandboxLinks, AreFoundInMarkdownWithTheirLabels) {
  auto found = find_sandbox_links("Here: [the report](sandbox:/mnt/data/report.csv), done.");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].form, Form::markdown);
  EXPECT_EQ(found[0].label, "the report");
  EXPECT_EQ(found[0].address, "sandbox:/mnt/data/report.csv");
  EXPECT_EQ(found[0].outer_start, 6u);
  EXPECT_EQ(found[0].outer_end, 6u + std::string_view("[the report](sandbox:/mnt/data/report.csv)").size());
}

TEST(SandboxLinks, OfImagesSayThatTheyAreShown) {
  auto found = find_sandbox_links("![plot](sandbox:/mnt/data/plot.png)");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].form, Form::image);
  EXPECT_EQ(found[0].outer_start, 0u);
}

TEST(SandboxLinks, MayHoldSpacesParenthesesAndTitlesAsModelsWriteThem) {
  EXPECT_THAT(addresses("[a](sandbox:/mnt/data/my report (final).csv)"),
              ElementsAre("sandbox:/mnt/data/my report (final).csv"));
  EXPECT_THAT(addresses("[a](sandbox:/mnt/data/a.csv \"A title\") [b](<sandbox:/mnt/data/b c.csv>)"),
              ElementsAre("sandbox:/mnt/data/a.csv", "sandbox:/mnt/data/b c.csv"));
  EXPECT_THAT(addresses("[a](sandbox:/mnt/data/half (1.csv)"), ElementsAre("sandbox:/mnt/data/half (1.csv"));
}

TEST(SandboxLinks, AreFoundBareUpToWhereTheSentenceGoesOn) {
  EXPECT_THAT(addresses("See sandbox:/mnt/data/a.csv. Or (sandbox:/mnt/data/b.csv)!"),
              ElementsAre("sandbox:/mnt/data/a.csv", "sandbox:/mnt/data/b.csv"));
  EXPECT_THAT(addresses("文件在sandbox:/mnt/data/报告.csv，请下载"),
              ElementsAre("sandbox:/mnt/data/报告.csv"));
  EXPECT_THAT(addresses("**sandbox:/mnt/data/a.csv**"), ElementsAre("sandbox:/mnt/data/a.csv"));
}

TEST(SandboxLinks, InCodeQuotesAndAttributesAreReplacedByAnAddressOnly) {
  for (std::string_view text : {"`sandbox:/mnt/data/a.csv`", "<a href=\"sandbox:/mnt/data/a.csv\">",
                                "<sandbox:/mnt/data/a.csv>", "[1]: sandbox:/mnt/data/a.csv"}) {
    auto found = find_sandbox_links(text);
    ASSERT_EQ(found.size(), 1u) << text;
    EXPECT_EQ(found[0].form, text.starts_with('`') ? Form::quoted : Form::target) << text;
    EXPECT_EQ(found[0].address, "sandbox:/mnt/data/a.csv") << text;
  }
}

TEST(SandboxLinks, InQuotesAndAngleBracketsMayHoldSpaces) {
  for (std::string_view text :
       {"<img src=\"sandbox:/mnt/data/my chart.png\">", "<img src='sandbox:/mnt/data/my chart.png' alt=''>",
        "<sandbox:/mnt/data/my chart.png>", "[1]: <sandbox:/mnt/data/my chart.png> \"title\""}) {
    auto found = find_sandbox_links(text);
    ASSERT_EQ(found.size(), 1u) << text;
    EXPECT_EQ(found[0].form, Form::target) << text;
    EXPECT_EQ(found[0].address, "sandbox:/mnt/data/my chart.png") << text;
  }
  EXPECT_THAT(addresses("'sandbox:/mnt/data/a.csv is Bob's\n'"), ElementsAre("sandbox:/mnt/data/a.csv"));
  EXPECT_THAT(addresses("\"sandbox:/mnt/data/a.csv and sandbox:/mnt/data/b.csv\""),
              ElementsAre("sandbox:/mnt/data/a.csv", "sandbox:/mnt/data/b.csv"));
}

TEST(SandboxLinks, InCodeAreReplacedByAnAddressOnly) {
  for (std::string_view text :
       {"```sh\ncurl sandbox:/mnt/data/a.csv\n```", "```\ncurl sandbox:/mnt/data/a.csv",
        "~~~\n```\nsandbox:/mnt/data/a.csv\n~~~", "- x\n  ```\n  [a](sandbox:/mnt/data/a.csv)\n  ```",
        "> ```\n> sandbox:/mnt/data/a.csv", "`curl sandbox:/mnt/data/a.csv`",
        "``wget ` sandbox:/mnt/data/a.csv ``", "`![a](sandbox:/mnt/data/a.csv)`"}) {
    auto found = find_sandbox_links(text);
    ASSERT_EQ(found.size(), 1u) << text;
    EXPECT_EQ(found[0].form, Form::quoted) << text;
    EXPECT_EQ(found[0].address, "sandbox:/mnt/data/a.csv") << text;
    EXPECT_EQ(found[0].outer_end - found[0].outer_start, found[0].address.size()) << text;
  }
  for (std::string_view text : {"```\nx\n```\ncurl sandbox:/mnt/data/a.csv",
                                "a ` b\n\nsandbox:/mnt/data/a.csv ` c", "\\`curl sandbox:/mnt/data/a.csv `",
                                "```a``` sandbox:/mnt/data/a.csv", "`` ` sandbox:/mnt/data/a.csv"}) {
    auto found = find_sandbox_links(text);
    ASSERT_EQ(found.size(), 1u) << text;
    EXPECT_EQ(found[0].form, Form::bare) << text;
  }
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
constexpr bool kIsSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kIsSanitized = false;
#endif

// The processor time that a text of about this size takes; the least of several attempts.
double cost_of(std::string_view piece, size_t size) {
  std::string text;
  while (text.size() < size) text += piece;
  double least = 1e9;
  for (int attempt = 0; attempt < 3; ++attempt) {
    timespec from, to;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    find_sandbox_links(text);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    least = std::min(least, double(to.tv_sec - from.tv_sec) + double(to.tv_nsec - from.tv_nsec) * 1e-9);
  }
  return least;
}

// Eight times the text may cost eight times as much, and not 64 times.
TEST(SandboxLinks, AreFoundInTimeLinearInTheTextHoweverItIsMadeUp) {
  for (std::string_view piece : {"](<sandbox:x",
                                 "](<sandbox:x>",
                                 "](sandbox:x",
                                 "](<data:image/x",
                                 "](data:image/x)",
                                 "](data:image/x",
                                 "'sandbox:/x",
                                 "\"sandbox:/x y",
                                 "<sandbox:/x",
                                 "sandbox:/x....",
                                 "[a](sandbox:/mnt/data/a)",
                                 "`",
                                 "``a`b",
                                 "\\`",
                                 "```\n",
                                 "a\n\n",
                                 "~~~~ x\n",
                                 "[[",
                                 "](",
                                 "sandbox:/（",
                                 "](x",
                                 "](x(",
                                 "]:x",
                                 "]: <x",
                                 "a=x",
                                 " a=x",
                                 "a=\"",
                                 "= '",
                                 "https://e.ee/",
                                 "[a](e.ee/](sandbox:/x",
                                 "<a:"}) {
    // A sanitizer's allocator moves what grows each time, so that its times prove nothing; it still sees
    // every access to memory.
    const size_t size = kIsSanitized ? 5'000 : 40'000;
    double small = cost_of(piece, size), large = cost_of(piece, 8 * size);
    if (!kIsSanitized) {
      EXPECT_LT(large, 24 * small + 0.002) << piece;
    }
  }
}

TEST(SandboxLinks, AreOnlyWhatIsMeantAsOne) {
  EXPECT_THAT(addresses("A sandbox: a place to play. mysandbox:/mnt/data/a. /mnt/data/plain.csv"), IsEmpty());
  EXPECT_THAT(addresses("[a](/mnt/data/a.csv) [b](https://example.org/mnt/data/b)"),
              ElementsAre("/mnt/data/a.csv"));
  EXPECT_THAT(addresses("[x](sandbox:/tmp/x.csv)"), ElementsAre("sandbox:/tmp/x.csv"));
}

// A link that stands in the address of another place would be given to that place.
TEST(SandboxLinks, InsideAnotherAddressStayAsWritten) {
  const std::string own = "sandbox:/mnt/data/secret.csv";
  for (std::string_view before : {"[x](https://evil.example/?u=",
                                  "![x](https://evil.example/",
                                  "[x](https://evil.example/?u=\"",
                                  "[x](https://evil.example/?u='",
                                  "[x](https://evil.example/?u=<",
                                  "[x](<https://evil.example/?u= ",
                                  "[x](https\\://evil.example/?u=(",
                                  "[x](<https&#58;//evil.example/?u= ",
                                  "[x](https&#58;//e.example/?u=",
                                  "[x](//evil.example/?u=",
                                  "[x](page?u=",
                                  "[x](https://e.example/?[y](",
                                  "[x](https://e.example/?![y](",
                                  "[x](mailto:a@evil.example?body=",
                                  "[x]: https://evil.example/?u=",
                                  "[x]: <https://evil.example/?u= ",
                                  "[x]:\npage?u=",
                                  "<https://evil.example/?u=",
                                  "<gopher:evil?u=",
                                  "https://evil.example/?u=",
                                  "https://evil.example/>",
                                  "see (http://evil.example/",
                                  "www.evil.example/?u=",
                                  "evil.example/",
                                  "evil.example:80/中",
                                  "详见https://evil.example/文",
                                  "1https://evil.example/?u=",
                                  "<a href=\"https://evil.example/?u=",
                                  "<a href=\"https://evil.example/?u= ",
                                  "<a href = ' https://evil.example/?u=\n",
                                  "<a href=\"https://evil.example/?<u> \n",
                                  "<b x=\"<a href=\"//evil.example/?u= ",
                                  "<img src=//evil.example/?u=",
                                  "<img src= //evil.example/?u=",
                                  "<a title=\"`\" href=\"//evil.example/?u=\n`",
                                  "`https://evil.example/?u=",
                                  "https://evil.example/[a]("}) {
    for (std::string_view behind : {"", ")", "\">", "'>", ">", " \"t\")", ">)", "`", "\")", "))", " x)"}) {
      auto text = std::string(before) + own + std::string(behind);
      bool is_autolink = before.ends_with('<') && text.ends_with('>');
      if (is_autolink) continue;
      // The end of an attribute makes it one.
      if (before.starts_with("<a") || before.starts_with("<b")) text += "\"'";
      EXPECT_THAT(addresses(text), IsEmpty()) << text;
    }
  }
}

TEST(SandboxLinks, BesideAnotherAddressAreFound) {
  const std::string own = "sandbox:/mnt/data/my secret.csv";
  for (std::string_view before :
       {"[x](https://example.org)[y](", "[x](https://example.org/(a))![y](", "[and/or https://example.org/](",
        "https://example.org [y](", "[x]: https://example.org\n[y](", "[y]: <", "<a href=\"", "<a href='",
        "<a class=\"b\" href=\"", "<https://example.org>[y](", "| https://example.org | [y]("}) {
    for (std::string_view behind : {")", ">", "\">", "'>"}) {
      auto text = std::string(before) + own + std::string(behind);
      if (text.back() == '>' ? before.ends_with('(') : !before.ends_with('(')) continue;
      EXPECT_EQ(addresses(text).size(), 1u) << text;
    }
  }
  EXPECT_THAT(addresses("|sandbox:/mnt/data/v1.data/a.csv|sandbox:/mnt/data/b.csv|"),
              ElementsAre("sandbox:/mnt/data/v1.data/a.csv", "sandbox:/mnt/data/b.csv"));
  EXPECT_THAT(addresses("A/B测试结果：sandbox:/mnt/data/ab.csv"), ElementsAre("sandbox:/mnt/data/ab.csv"));
  EXPECT_THAT(addresses("[a](https://example.org/),sandbox:/mnt/data/a.csv"),
              ElementsAre("sandbox:/mnt/data/a.csv"));
}

// Also where the parser cannot tell the range of an address. The fuzzer checks the same for any bytes.
TEST(SandboxLinks, NoRewrittenTextHoldsALinkInsideAnotherAddress) {
  const std::vector<std::string> pieces = {"[",
                                           "]",
                                           "(",
                                           ")",
                                           "<",
                                           ">",
                                           "](",
                                           "]: ",
                                           "\n",
                                           " ",
                                           "\"",
                                           "'",
                                           "=",
                                           "\\",
                                           "&amp;",
                                           "`",
                                           "<a href=",
                                           "https://e.example/",
                                           "//e?",
                                           "!",
                                           "[x]: ",
                                           "sandbox:/mnt/data/a",
                                           "sandbox:/mnt/data/a",
                                           "](sandbox:/mnt/data/a)"};
  const std::string url = "https://here/k/x";
  const auto seed = std::random_device()();
  std::mt19937 random(seed);
  for (int number = 0; number < 20'000; ++number) {
    std::string text;
    for (auto left = 1 + random() % 12; left > 0; --left) text += pieces[random() % pieces.size()];
    std::vector<Replacement> all;
    for (const auto& link : find_sandbox_links(text)) all.push_back({link, "a", url, ""});
    auto rewritten = rewrite(text, all);
    auto html = markdown_to_html(rewritten, {});
    for (size_t at = html.find("href=\""); at != std::string::npos; at = html.find("href=\"", at + 1)) {
      auto target = html.substr(at + 6, html.find('"', at + 6) - at - 6);
      ASSERT_TRUE(target.starts_with(url) || target.find(url) == std::string::npos)
          << "seed " << seed << ": " << text << "\n"
          << rewritten;
    }
  }
}

TEST(SandboxLinks, EverySpellingLeadsToTheSamePath) {
  for (std::string_view address :
       {"sandbox:/mnt/data/a b.csv", "sandbox:/mnt/data/a%20b.csv", "sandbox:///mnt/data/a%20b.csv",
        "sandbox:mnt/data/a b.csv", "SANDBOX:/mnt/data/a%20b.csv", "sandbox:%2Fmnt%2Fdata%2Fa%20b.csv",
        "/mnt/data/a%20b.csv", "sandbox:/mnt/data/a%20b.csv?download=1#top", "sandbox:/mnt/data/./a b.csv"})
    EXPECT_THAT(paths_meant(address), Contains("a b.csv")) << address;
  EXPECT_THAT(paths_meant("sandbox:/mnt/data/a\\_b\\(1\\).csv"), Contains("a_b(1).csv"));
  EXPECT_THAT(paths_meant("sandbox:/mnt/data/a&amp;b.csv"), Contains("a&b.csv"));
}

TEST(SandboxLinks, TheLiteralReadingComesFirst) {
  EXPECT_EQ(paths_meant("sandbox:/mnt/data/100%25.csv").front(), "100%25.csv");
  EXPECT_THAT(paths_meant("sandbox:/mnt/data/100%25.csv"), Contains("100%.csv"));
  EXPECT_EQ(paths_meant("sandbox:/mnt/data/what?.csv").front(), "what?.csv");
  EXPECT_EQ(paths_meant("sandbox:/mnt/data/50%.csv").front(), "50%.csv");
}

TEST(SandboxLinks, NeverLeadOutOfTheFolder) {
  for (std::string_view address : {"sandbox:/mnt/data/../../etc/passwd", "sandbox:/mnt/data/%2e%2e/x",
                                   "sandbox:/etc/passwd", "sandbox:/mnt/data/", "sandbox:/mnt/data/a%00b"})
    for (const auto& path : paths_meant(address)) EXPECT_EQ(path.find(".."), std::string::npos) << address;
  EXPECT_THAT(paths_meant("sandbox:/etc/passwd"), IsEmpty());
  EXPECT_THAT(paths_meant("sandbox:/mnt/data/"), IsEmpty());
}

TEST(SandboxLinks, ComposedAndDecomposedNamesAreBothTried) {
  std::string nfc = "sandbox:/mnt/data/r\u00e9sum\u00e9.txt",
              nfd = "sandbox:/mnt/data/re\u0301sume\u0301.txt";
  EXPECT_THAT(paths_meant(nfc), Contains("re\u0301sume\u0301.txt"));
  EXPECT_THAT(paths_meant(nfd), Contains("r\u00e9sum\u00e9.txt"));
}

TEST(SandboxLinks, NamesReadWell) {
  EXPECT_EQ(name_meant("sandbox:/mnt/data/out/%E6%8A%A5%E5%91%8A.csv"), "报告.csv");
  EXPECT_EQ(name_meant("sandbox:/tmp/x.csv"), "x.csv");
  EXPECT_FALSE(name_meant("sandbox:/").empty());
}

TEST(SandboxLinks, AnyFileNameThatIsPercentEncodedIsFoundAgain) {
  EXPECT_TRUE(test::check_property("find(encode(name)) == name", [](const std::string& raw) {
    std::string bytes;
    for (char c : raw)
      if (c != '/' && c != '\0') bytes += c;
    auto name = escape_name(bytes);
    RC_PRE(!name.empty() && name.size() < 200 && name != "." && name != "..");
    auto address = "sandbox:/mnt/data/" + percent_encode(name);
    auto found = find_sandbox_links("see [x](" + address + ") and " + address + " now");
    RC_ASSERT(found.size() == 2u);
    for (const auto& link : found) {
      // A bare address loses stops at its end, which belong to the sentence more often.
      if (link.form == Form::bare && std::string_view(".~").find(name.back()) != std::string_view::npos)
        continue;
      auto paths = paths_meant(link.address);
      RC_ASSERT(std::find(paths.begin(), paths.end(), name) != paths.end());
    }
  }));
}

// Pieces of which random texts with many links and near-links are made.
const std::vector<std::string> kPieces = {"](",
                                          "sandbox:",
                                          "/mnt/data/",
                                          "[",
                                          "]",
                                          "(",
                                          ")",
                                          "!",
                                          "<",
                                          ">",
                                          "a b",
                                          "\n",
                                          "\"",
                                          "`",
                                          "，",
                                          "\xff",
                                          "%2",
                                          "\\",
                                          "]: ",
                                          "]:",
                                          "'",
                                          "*",
                                          " ",
                                          "\n\n",
                                          "- ",
                                          "> ",
                                          "](sandbox:/mnt/data/a",
                                          "sandbox:/(",
                                          "[x]: sandbox:/mnt/data/a",
                                          "data:image/png;base64,AA"};

std::string text_of(const std::vector<uint8_t>& choice) {
  std::string text;
  for (auto c : choice) text += kPieces[c % kPieces.size()];
  return text;
}

TEST(SandboxLinks, AnAddressInALabelIsPartOfTheLabel) {
  EXPECT_THAT(addresses("[sandbox:/(b](sandbox:/mnt/data/a)"), ElementsAre("sandbox:/mnt/data/a"));
  auto found = find_sandbox_links("![get sandbox:/mnt/data/a b](sandbox:/mnt/data/a b)");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].form, Form::image);
  EXPECT_EQ(found[0].label, "get sandbox:/mnt/data/a b");
  EXPECT_EQ(found[0].outer_start, 0u);
  EXPECT_THAT(addresses("[![x](sandbox:/mnt/data/a.png)](sandbox:/mnt/data/b.csv)"),
              ElementsAre("sandbox:/mnt/data/a.png", "sandbox:/mnt/data/b.csv"));
}

TEST(SandboxLinks, MayBeEmphasized) {
  for (std::string_view mark : {"*", "**", "_", "__", "___", "~~"}) {
    auto text = std::string(mark) + "sandbox:/mnt/data/a_b.csv" + std::string(mark);
    EXPECT_THAT(addresses(text), ElementsAre("sandbox:/mnt/data/a_b.csv")) << text;
    EXPECT_THAT(addresses("See " + text + ", please."), ElementsAre("sandbox:/mnt/data/a_b.csv")) << text;
  }
  EXPECT_THAT(addresses("my_sandbox:/mnt/data/a.csv"), IsEmpty());
  EXPECT_THAT(addresses("sandbox:/mnt/data/a_"), ElementsAre("sandbox:/mnt/data/a_"));
}

TEST(SandboxLinks, MayEndBeforeTheSentenceGoesOn) {
  const std::string own = "sandbox:/mnt/data/report.csv";
  for (std::string_view behind :
       {"…", "—then", "–then", "»", "\u00a0and", "&nbsp;and", "'s", "\u2019s", ":12", ":12:5", "\\", "_"})
    EXPECT_THAT(shorter_addresses(own + std::string(behind)), Contains(own)) << behind;
  for (std::string_view whole :
       {"sandbox:/mnt/data/report.csv", "sandbox:/mnt/data/a_b:c'd.csv", "sandbox:", ""})
    EXPECT_THAT(shorter_addresses(whole), IsEmpty()) << whole;
  EXPECT_THAT(shorter_addresses(own + "—a—b"), ElementsAre(own + "—a", own));
}

// The fuzzer checks the same for any bytes. Texts made of few pieces reach the odd cases sooner.
TEST(SandboxLinks, EveryAddressThatTheHtmlLinksToIsFound) {
  const std::vector<std::string> pieces = {"[",
                                           "]",
                                           "(",
                                           ")",
                                           "<",
                                           ">",
                                           "`",
                                           " ",
                                           "\n",
                                           "sandbox:/(",
                                           "](sandbox:/mnt/data/a",
                                           "[x]: sandbox:/mnt/data/a"};
  const auto seed = std::random_device()();
  std::mt19937 random(seed);
  for (int number = 0; number < 20'000; ++number) {
    std::string text;
    for (auto left = 1 + random() % 12; left > 0; --left) text += pieces[random() % pieces.size()];
    auto links = find_sandbox_links(text);
    for (const auto& shown : find_markdown_parts(text).destinations) {
      if (!std::string_view(text).substr(shown.start).starts_with("sandbox:/mnt/data/a")) continue;
      ASSERT_TRUE(std::ranges::any_of(
          links, [&](const auto& link) { return link.start == shown.start && link.end == shown.end; }))
          << "seed " << seed << ": " << text;
    }
  }
}

TEST(SandboxLinks, RangesAreInOrderAndInsideTheTextForAnyBytes) {
  EXPECT_TRUE(test::check_property("ranges fit", [&](const std::vector<uint8_t>& choice) {
    auto text = text_of(choice);
    size_t from = 0;
    for (const auto& link : find_sandbox_links(text)) {
      RC_ASSERT(link.outer_start >= from);
      RC_ASSERT(link.outer_start <= link.start);
      RC_ASSERT(link.start < link.end);
      RC_ASSERT(link.end <= link.outer_end);
      RC_ASSERT(link.outer_end <= text.size());
      RC_ASSERT(link.address == text.substr(link.start, link.end - link.start));
      from = link.outer_end;
    }
  }));
}

}  // namespace
}  // namespace sk::conversations
