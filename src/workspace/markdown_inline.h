// What stands inside a paragraph of Markdown, as HTML. Internal to markdown.cpp and its tests.
#pragma once

#include <string>
#include <string_view>

#include "workspace/markdown.h"

namespace sk::workspace {

// Appends to `out`; `text` is UTF-8.
void append_inline_html(std::string& out, std::string_view text, const HtmlOptions& options);

}  // namespace sk::workspace
