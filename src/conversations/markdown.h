// Converts Markdown to safe HTML, for untrusted text such as a model's output.
//
// Everything is escaped. Only listed elements become tags: paragraphs, headings, lists, quotes, rules, code,
// tables, emphasis, links and images. HTML in the text is shown as text, except <a href> and <img src> with a
// web address, which become links and images with no other attribute of theirs. Links lead to http, https,
// mailto and paths of this server only. Images are shown only from trusted addresses, so that reading a
// message makes no third-party request. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sk::conversations {

struct HtmlOptions {
  // Images whose address starts with one of these are shown; others become links.
  std::vector<std::string> image_prefixes;
};

// Returns well-formed HTML for any bytes; invalid UTF-8 is replaced. Takes linear time.
std::string markdown_to_html(std::string_view markdown, const HtmlOptions& options);

// Whether a link may have this target. Control characters and spaces make it unsafe.
bool is_safe_link(std::string_view url);

}  // namespace sk::conversations
