#include "conversations/markdown.h"

#include <gtest/gtest.h>
#include "support/property.h"

#include <chrono>
#include <ctime>
#include <regex>

#include "base/text.h"
#include "conversations/markdown_parts.h"
#include "conversations/rewriting.h"

namespace sk::conversations {
namespace {

std::string html(std::string_view markdown) {
  return markdown_to_html(markdown, {.image_prefixes = {"https://here/k/"}});
}

TEST(Markdown, ShowsWhatModelsWrite) {
  EXPECT_EQ(html("# Title\n\nSome *text*, **bold**, `code < 1`."),
            "<h1>Title</h1>\n<p>Some <em>text</em>, <strong>bold</strong>, <code>code &lt; 1</code>.</p>\n");
  EXPECT_EQ(html("- a\n- b\n  - c\n"), "<ul>\n<li>a</li>\n<li>b<ul>\n<li>c</li>\n</ul>\n</li>\n</ul>\n");
  EXPECT_EQ(html("3. a\n4. b"), "<ol start=\"3\">\n<li>a</li>\n<li>b</li>\n</ol>\n");
  EXPECT_EQ(html("```python\nx = '<b>'\n```\nafter"),
            "<pre><code>x = &#39;&lt;b&gt;&#39;\n</code></pre>\n<p>after</p>\n");
  EXPECT_EQ(html("> quoted\n\n---"), "<blockquote>\n<p>quoted</p>\n</blockquote>\n<hr>\n");
  EXPECT_EQ(html("| a | b |\n|---|:-:|\n| 1 | `x` |"),
            "<table>\n<thead>\n<tr><th>a</th><th>b</th></tr>\n</thead>\n<tbody>\n<tr><td>1</td><td><code>x</"
            "code></td>"
            "</tr>\n</tbody>\n</table>\n");
  EXPECT_EQ(html("~~old~~ snake_case_name 2 * 3 * 4"), "<p><del>old</del> snake_case_name 2 * 3 * 4</p>\n");
}

TEST(Markdown, LinksHaveOnlyAllowedTargets) {
  EXPECT_NE(html("[x](https://here/k/v_1/a.csv)").find("<a href=\"https://here/k/v_1/a.csv\""),
            std::string::npos);
  EXPECT_NE(html("see https://example.org/a?b=1.").find(">https://example.org/a?b=1</a>."),
            std::string::npos);
  for (std::string_view bad :
       {"[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](data:text/html,hi)",
        "[x](//evil.example)", "[x](vbscript:x)", "[x](java\tscript:x)", "<javascript:alert(1)>",
        "[x](sandbox:/mnt/data/a)", "[x](&#106;avascript:alert)", "![x](javascript:alert(1))",
        "[x](\\\\evil)", "[x](file:///etc/passwd)"})
    EXPECT_EQ(html(bad).find("href"), std::string::npos) << bad << " → " << html(bad);
}

TEST(Markdown, EntitiesAreCharactersInTextAndHideNothingInLinks) {
  EXPECT_EQ(html("a &lt;b&gt; &amp; c &copy; &nonsense"),
            "<p>a &lt;b&gt; &amp; c &copy; &amp;nonsense</p>\n");
  EXPECT_NE(html("[x](https://here/k/?a=1&amp;b=2)").find("href=\"https://here/k/?a=1&amp;b=2\""),
            std::string::npos);
  for (std::string_view bad : {"[x](java&#115;cript:a)", "[x](&#x6A;avascript:a)", "[x](https&colon;//a)"})
    EXPECT_EQ(html(bad).find("href"), std::string::npos) << bad;
}

TEST(Markdown, InputThatWouldGrowTooMuchIsShownUnchanged) {
  std::string wide = "|", rule = "|";
  for (int i = 0; i < 500; ++i) wide += "a|", rule += "---|";
  std::string table = wide + "\n" + rule + "\n";
  for (int i = 0; i < 2'000; ++i) table += "|b\n";
  EXPECT_TRUE(html(table).starts_with("<pre>|a|a"));
  // A definition that is used often, whether its address is shown or not.
  for (std::string scheme : {"https://here/", "javascript:"}) {
    std::string uses = "[a]: " + scheme + std::string(30'000, 'x') + "\n\n";
    for (int i = 0; i < 50'000; ++i) uses += "[a] ";
    EXPECT_TRUE(html(uses).starts_with("<pre>[a]: "));
    EXPECT_LE(find_markdown_parts(uses).destinations.size(), 1u);
  }
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += '>';
  auto out = html(deep + " a");
  EXPECT_LT(out.size(), 10'000u);
  EXPECT_NE(out.find('a'), std::string::npos);
}

TEST(Markdown, LinksByReferenceLeadToWhatIsDefined) {
  const std::string definition =
      "\n\n[R  1]: https://here/k/v_1/a.png \"A title\"\n[s]: <https://here/k/v_2/b>";
  const std::string link = "<a href=\"https://here/k/v_1/a.png\" rel=\"noopener noreferrer nofollow\">";
  EXPECT_EQ(html("[x][r 1]" + definition), "<p>" + link + "x</a></p>\n");
  EXPECT_EQ(html("[R 1] and [r 1][]" + definition), "<p>" + link + "R 1</a> and " + link + "r 1</a></p>\n");
  EXPECT_NE(html("![x][r 1]" + definition).find("<img src=\"https://here/k/v_1/a.png\" alt=\"x\""),
            std::string::npos);
  EXPECT_NE(html("- [x][S]" + definition).find("href=\"https://here/k/v_2/b\""), std::string::npos);
  for (std::string text : {"[x][t]", "[t]", "array[0][1]", "- [x] done"})
    EXPECT_EQ(html(text + definition).find("href"), std::string::npos) << text;
  EXPECT_EQ(html("[x]\n\n[x]: javascript:alert(1)"), "<p>x</p>\n");
  EXPECT_EQ(html("```\n[a]: https://here/\n```"), "<pre><code>[a]: https://here/\n</code></pre>\n");
  EXPECT_NE(html("a paragraph\n[a]: https://here/k/ goes on").find("goes on"), std::string::npos);
  EXPECT_NE(html("[note]: see below, it is long").find("[note]: see below"), std::string::npos);
}

TEST(Markdown, ImagesAreShownOnlyFromThisServer) {
  EXPECT_NE(html("![p](https://here/k/v_1/p.png)").find("<img src=\"https://here/k/v_1/p.png\" alt=\"p\""),
            std::string::npos);
  auto foreign = html("![p](https://tracker.example/p.png)");
  EXPECT_EQ(foreign.find("<img"), std::string::npos);
  EXPECT_NE(foreign.find("<a href=\"https://tracker.example/p.png\""), std::string::npos);
}

TEST(Markdown, HtmlInTheTextIsEscaped) {
  for (std::string_view evil :
       {"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a <b onmouseover=x>",
        "[\"><script>](https://here/k/x)", "![\" onerror=\"x](https://here/k/x)", "`</code><script>`",
        "```\n</pre><script>\n```"}) {
    auto out = html(evil);
    EXPECT_EQ(out.find("<script"), std::string::npos) << out;
    EXPECT_EQ(out.find("<img src=x"), std::string::npos) << out;
    EXPECT_EQ(out.find("<b "), std::string::npos) << out;
    EXPECT_EQ(out.find("\" onerror=\""), std::string::npos) << out;
  }
}

TEST(Markdown, HtmlLinksAndImagesToWebAddressesAreShownAsSuch) {
  const std::string link = "<a href=\"https://here/k/v_1/r.csv\" rel=\"noopener noreferrer nofollow\">";
  EXPECT_EQ(html("Download <a href=\"https://here/k/v_1/r.csv\">report</a> now"),
            "<p>Download " + link + "report</a> now</p>\n");
  EXPECT_EQ(
      html("<A class='x' HREF = 'https://here/k/v_1/r.csv' onclick=evil() download>the *new* one</A >."),
      "<p>" + link + "the <em>new</em> one</a>.</p>\n");
  EXPECT_EQ(html("<a href=https://here/k/v_1/r.csv>[a](https://b/) c</a> d"),
            "<p>" + link + "a c</a> d</p>\n");
  EXPECT_EQ(html("*x <a href=\"https://here/k/v_1/r.csv\">y* z"), "<p><em>x " + link + "y</a></em> z</p>\n");
  EXPECT_EQ(html("<a href=\"https://here/k/v_1/r.csv\">y\n\nz"), "<p>" + link + "y</a></p>\n<p>z</p>\n");
  EXPECT_EQ(html("- <a href=\"https://here/k/v_1/r.csv\">y\n  - z"),
            "<ul>\n<li>" + link + "y</a><ul>\n<li>z</li>\n</ul>\n</li>\n</ul>\n");
  EXPECT_EQ(html("<img width=3 src=\"https://here/k/v_1/p.png\" alt='a \"b\"' onerror=\"x()\"/>"),
            "<p><img src=\"https://here/k/v_1/p.png\" alt=\"a &quot;b&quot;\" loading=\"lazy\"></p>\n");
  EXPECT_EQ(html("<img src=\"https://tracker.example/p.png\">").find("<img"), std::string::npos);
}

TEST(Markdown, OtherHtmlIsTextWithoutLinksInside) {
  for (std::string_view text :
       {"<a href=\"javascript:x\">y</a>", "<a href=\"sandbox:/mnt/data/a\">y</a>",
        "<a href=\"/mnt/data/a\">y</a>", "<a href=\"//evil/\">y</a>",
        "<div title=\"https://here/k/v_1/r.csv\">y</div>", "\\<a href=\"/\">y</a>",
        "<a href=\" https://here/\">y</a>", "</a>", "<a>", "<img>", "<a href=\"https://here/ x\">y</a>"}) {
    auto out = html(text);
    EXPECT_EQ(out.find("<a"), std::string::npos) << out;
    EXPECT_NE(out.find("&lt;"), std::string::npos) << out;
  }
  EXPECT_EQ(html("\\<a href=\"https://here/k/\">y</a>")
                .find("<a href=\"https://here/k/\" rel=\"noopener noreferrer nofollow\">y"),
            std::string::npos);
}

// Whether `out` is made of known tags with known attributes only, each closed in order.
::testing::AssertionResult is_clean(const std::string& out) {
  static const std::regex tag(
      "<(/?)(p|h[1-6]|ul|ol|li|blockquote|hr|pre|code|table|thead|tbody|tr|th|td|em|strong|del|a|img|br)"
      "( start=\"[0-9]+\"| href=\"(https?:|mailto:|/|#)[^\"<>]*\" rel=\"noopener noreferrer nofollow\""
      "| src=\"https://here/k/[^\"<>]*\" alt=\"[^\"<>]*\" loading=\"lazy\")?>",
      std::regex::icase);
  std::vector<std::string> open;
  for (size_t at = 0; (at = out.find('<', at)) != std::string::npos;) {
    size_t end = out.find('>', at);
    if (end == std::string::npos)
      return ::testing::AssertionFailure() << "not closed: " << out.substr(at, 80);
    auto text = out.substr(at, end - at + 1);
    std::smatch found;
    if (!std::regex_match(text, found, tag)) return ::testing::AssertionFailure() << "unknown tag " << text;
    auto name = found[2].str();
    if (found[1] == "/") {
      if (open.empty() || open.back() != name) return ::testing::AssertionFailure() << "crossed " << out;
      open.pop_back();
    } else if (name != "hr" && name != "br" && name != "img") {
      open.push_back(name);
    }
    at = end + 1;
  }
  if (!open.empty()) return ::testing::AssertionFailure() << "left open: " << open.back();
  return ::testing::AssertionSuccess();
}

TEST(Markdown, OnlyKnownTagsComeOutWhateverGoesIn) {
  const std::vector<std::string> pieces = {
      "*",   "**",   "_",        "~~",       "`",         "```\n",       "[",
      "](",  ")",    "!",        "<",        ">",         "javascript:", "https://here/k/",
      "\n",  "\n\n", "- ",       "1. ",      "| ",        "|---|---|\n", "# ",
      "> ",  "  ",   "\\",       "\"",       "'",         "&",           "a b",
      "é",   "\xff", "<script>", "onerror=", "\x01",      "[a]",         "[a]: ",
      "]: ", "][",   "<a href=", "</a>",     "<img src=", "/>"};
  EXPECT_TRUE(test::check_property("clean", [&](const std::vector<uint8_t>& choice) {
    std::string text;
    for (auto c : choice) text += pieces[c % pieces.size()];
    auto out = html(text);
    RC_ASSERT(is_utf8(out));
    auto verdict = is_clean(out);
    if (!verdict) RC_LOG() << verdict.message() << "\n" << text;
    RC_ASSERT(static_cast<bool>(verdict));
  }));
}

// What a text costs of the processor: others use the machine as well. The best of some tries.
std::chrono::nanoseconds time_of(const std::string& text) {
  auto spent = [] {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  auto best = std::chrono::nanoseconds::max();
  for (int i = 0; i < 5; ++i) {
    auto start = spent();
    html(text);
    find_sandbox_links(text);
    best = std::min<std::chrono::nanoseconds>(best, spent() - start);
  }
  return best;
}

TEST(Markdown, TakesLinearTimeForAnyText) {
  std::string prose;
  while (prose.size() < (64 << 10)) prose += "Some *words* of a [model](https://example.org) and `code`.\n\n";
  auto usual = time_of(prose);
  for (const std::string piece : {"[",
                                  "](",
                                  "[](",
                                  "![](a \"",
                                  "*a ",
                                  "**a",
                                  "_",
                                  "`a",
                                  "``a`",
                                  "<",
                                  "http://",
                                  "> ",
                                  "- ",
                                  "|",
                                  "\\",
                                  "[a](sandbox:(",
                                  "](sandbox:/()",
                                  "sandbox:/(",
                                  "~~",
                                  "*_",
                                  "[a][b",
                                  "[a][r]",
                                  "[a]: x\n",
                                  "<sandbox:/",
                                  "<a href=\"https://here/",
                                  "<img src=",
                                  "](<sandbox:x",
                                  "```\n",
                                  "  - a\n"}) {
    std::string text = "[r]: https://here/k/\n\n";
    while (text.size() < (64 << 10)) text += piece;
    // What is quadratic, or looks far ahead each time, takes hundreds of times as long.
    EXPECT_LT(time_of(text), 60 * usual) << piece;
  }
}

// The rewriting of links and the HTML must see the same links, or a reader sees one that was not rewritten.
TEST(Markdown, EveryLinkToTheSandboxThatTheParserSeesIsFound) {
  const std::vector<std::string> pieces = {"[",
                                           "]",
                                           "](",
                                           "](<",
                                           ">)",
                                           ")",
                                           "(",
                                           "!",
                                           "[a](",
                                           "![b](",
                                           "[r]",
                                           "[r]: ",
                                           "\n",
                                           "\n\n",
                                           "sandbox:/mnt/data/x.csv",
                                           "sandbox:/mnt/data/a_b(1).png",
                                           " \"title\"",
                                           " 'it'",
                                           " (t)",
                                           "`",
                                           "```\n",
                                           "    ",
                                           "- ",
                                           "> ",
                                           "*",
                                           "_",
                                           "\\",
                                           " ",
                                           "text",
                                           "<",
                                           ">",
                                           "&amp;",
                                           "|",
                                           "\n|---|\n",
                                           "é",
                                           "\t",
                                           "\xff"};
  EXPECT_TRUE(test::check_property("agree", [&](const std::vector<uint8_t>& choice) {
    std::string text;
    for (auto c : choice) text += pieces[c % pieces.size()];
    auto found = find_sandbox_links(text);
    for (const auto& wanted : find_markdown_parts(text).destinations) {
      if (!std::string_view(text).substr(wanted.start).starts_with("sandbox:/")) continue;
      bool is_found = std::any_of(found.begin(), found.end(), [&](const SandboxLink& link) {
        return link.start == wanted.start && link.end == wanted.end;
      });
      if (!is_found) RC_LOG() << "not found at " << wanted.start << " to " << wanted.end << ":\n" << text;
      RC_ASSERT(is_found);
    }
  }));
}

TEST(Rewriting, ReplacesAddressesAndSaysWhatIsMissing) {
  std::string text =
      "[a](sandbox:/mnt/data/a.csv \"t\"), sandbox:/mnt/data/b_c.csv, ![p](<sandbox:/mnt/data/p q.png>), "
      "[gone](sandbox:/mnt/data/gone.csv), `sandbox:/mnt/data/d`";
  std::vector<Replacement> all;
  for (const auto& link : find_sandbox_links(text)) {
    auto name = name_meant(link.address);
    bool missing = name == "gone.csv";
    all.push_back(
        {link, name, missing ? "" : "https://here/k/" + percent_encode(name), missing ? "no such file" : ""});
  }
  EXPECT_EQ(
      rewrite(text, all),
      "[a](https://here/k/a.csv \"t\"), [b\\_c.csv](https://here/k/b_c.csv), ![p](https://here/k/p%20q.png), "
      "gone (no such file: gone.csv), `https://here/k/d`");
}

std::string rewritten(std::string_view text, const std::string& url) {
  std::vector<Replacement> all;
  for (const auto& link : find_sandbox_links(text))
    all.push_back({link, name_meant(link.address), url, url.empty() ? "no such file" : ""});
  return rewrite(text, all);
}

TEST(Rewriting, LeavesNoLinkToTheSandbox) {
  const std::string own = "sandbox:/mnt/data/a b.csv", url = "https://here/k/x";
  struct Case {
    std::string text, found, missing;
  };
  const std::string reason = "a b.csv (no such file: a b.csv)", nowhere = "#no-such-file:a%20b.csv";
  for (const auto& [text, found, missing] : std::vector<Case>{
           {"[" + own + "](" + own + ")", "[a b.csv](" + url + ")", reason},
           {"![" + own + "](" + own + " \"t\")", "![a b.csv](" + url + " \"t\")", reason},
           {"[1]: <" + own + ">", "[1]: <" + url + ">", "[1]: <" + nowhere + ">"},
           {"<" + own + ">", "<" + url + ">", reason},
           {"<a href=\"" + own + "\">x</a>", "<a href=\"" + url + "\">x</a>",
            "<a href=\"" + nowhere + "\">x</a>"},
           {"<img src='" + own + "'>", "<img src='" + url + "'>", "<img src='" + nowhere + "'>"},
           {"[![x](" + own + ")](" + own + ")", "[![x](" + url + ")](" + url + ")",
            "[x (no such file: a b.csv)](" + nowhere + ")"},
           {"`sandbox:/mnt/data/a`", "`" + url + "`", "`sandbox:/mnt/data/a`"}}) {
    EXPECT_EQ(rewritten(text, url), found);
    EXPECT_EQ(rewritten(text, ""), missing);
  }
}

TEST(Rewriting, LeavesTheRestOfTheTextAlone) {
  EXPECT_TRUE(test::check_property("without links nothing changes; ranges that do not fit are left alone",
                                   [](const std::string& text, uint16_t a, uint16_t b) {
                                     RC_ASSERT(rewrite(text, {}) == text);
                                     Replacement wrong;
                                     wrong.link.start = wrong.link.outer_start = text.size() + a;
                                     wrong.link.end = wrong.link.outer_end = text.size() + a + b;
                                     RC_ASSERT(rewrite(text, {wrong}) == text);
                                   }));
}

}  // namespace
}  // namespace sk::conversations
