// Markdown as safe HTML: for text that nobody vouches for, such as what a model wrote.
//
// Everything is escaped, and then only what is on a list is made of it: paragraphs, headings, lists, quotes,
// rules, code, tables, emphasis, links and images. HTML in the text is shown, not obeyed. Links lead to http,
// https and mailto only; images are shown only from addresses that the caller trusts, so that reading a
// message calls nobody. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sk::conversations {

struct HtmlOptions {
  // Images whose address begins so are shown; others become links.
  std::vector<std::string> image_prefixes;
};

// Well-formed for any bytes (what is not UTF-8 is replaced), in time linear in the text.
std::string markdown_to_html(std::string_view markdown, const HtmlOptions& options);

// Whether a link may lead there. Control characters and spaces make it unsafe.
bool is_safe_link(std::string_view url);

}  // namespace sk::conversations
