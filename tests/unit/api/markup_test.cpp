#include "api/common/markup.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "api/common/layout.h"

namespace sk::api::page {
namespace {

template <class T>
concept CanAppend = requires(Markup out, T value) { out << value; };

TEST(Markup, EscapesTextForContentAndAttributes) {
  Markup out;
  out << "<a title=\"" << esc("\"><script>'&") << "\">";
  EXPECT_EQ(out.html(), "<a title=\"&quot;&gt;&lt;script&gt;&#39;&amp;\">");
}

// Forgetting esc() must not compile.
static_assert(!CanAppend<std::string>);
static_assert(!CanAppend<const std::string&>);
static_assert(!CanAppend<std::string_view>);
static_assert(!CanAppend<const char*>);
static_assert(CanAppend<Markup>);

TEST(Page, PathsOfThePageAreEncodedNameByName) {
  workspace::Workspace workspace;
  workspace.name = "a b?";
  EXPECT_EQ(page_path(workspace, "x/y #1.txt"), "/w/a%20b%3F/x/y%20%231.txt");
}

TEST(Page, TheStylesheetsAddressTellsItsContent) {
  EXPECT_TRUE(stylesheet_path().starts_with("/page/style-"));
  EXPECT_EQ(stylesheet().find("url("), std::string_view::npos) << "nothing is loaded from elsewhere";
  EXPECT_EQ(stylesheet().find("@import"), std::string_view::npos);
}

TEST(Page, BreadcrumbsLeadToEveryFolderAbove) {
  workspace::Workspace workspace;
  workspace.name = "w";
  auto html = breadcrumbs(workspace, "a/b<c").html();
  EXPECT_NE(html.find("href=\"/w/w/\">w</a>"), std::string::npos);
  EXPECT_NE(html.find("href=\"/w/w/a\">a</a>"), std::string::npos);
  EXPECT_NE(html.find("<span aria-current=\"page\">b&lt;c</span>"), std::string::npos);
}

}  // namespace
}  // namespace sk::api::page
