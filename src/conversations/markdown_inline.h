// What stands inside a paragraph of Markdown, as HTML. Internal to markdown.cpp and its tests.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "conversations/markdown.h"

namespace sk::conversations {

// What names mean: "[name]: address".
using Definitions = std::map<std::string, std::string>;
// As definitions and links are compared: without regard to case and to how much space there is. Empty for
// what is too long to be one.
std::string reference_name(std::string_view text);

struct Surroundings {
  const HtmlOptions& html;
  const Definitions& definitions;
};

// Appends to `out`; `text` is UTF-8.
void append_inline_html(std::string& out, std::string_view text, const Surroundings& around);

}  // namespace sk::conversations
